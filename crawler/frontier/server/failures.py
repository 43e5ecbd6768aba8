"""Turns redis-py's errors into the frontier's own: code outside `frontier/` does not know the driver."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final

from redis.exceptions import (
    AskError,
    ClusterError,
    ExecAbortError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    TryAgainError,
)

from crawler.frontier.errors import (
    FrontierError,
    FrontierFullError,
    FrontierRefusedError,
    FrontierUnavailableError,
)
from crawler.frontier.server.drops import OtherServerError
from crawler.frontier.server.refusals import cure, denied_by, is_answer, node_of, pattern_of, said_by

# Refusals of a server that is failing over, resharded or full, or cannot write its disk: they end once that is fixed.
_PASSING: Final = (ReadOnlyError, OutOfMemoryError, ClusterError, TryAgainError, AskError, ExecAbortError)
_PASSING_CODES: Final = frozenset({"MISCONF", "NOREPLICAS", "BUSY", "LOADING", "UNKILLABLE"})
_PASSING_WORDS: Final = ("max number of clients", "non local key")  # of errors without a code


def translated(error: Exception, call: str = "", key: str = "") -> FrontierError:
    """The frontier's error for the driver's *error* in a *call* about *key*."""
    said, node = said_by(error).rstrip(". "), node_of(error)
    if isinstance(error, OutOfMemoryError):
        return FrontierFullError(said)
    if isinstance(error, ResponseError) and not _passes(error):
        about = f"{call} on {key}" if call and key else call or "what this worker asks for"
        return FrontierRefusedError(f"Redis refuses {about} ({said}): it {cure(error, key)}")
    if is_answer(error):
        return FrontierUnavailableError(f"{said}{node and f' at {node}'}: it {cure(error, key)}")
    subject = "Redis " if isinstance(error, OtherServerError) else ""
    return FrontierUnavailableError(subject + (said or type(error).__name__))


def _passes(error: ResponseError) -> bool:
    said = str(error)
    is_passing = said.partition(" ")[0] in _PASSING_CODES or any(words in said for words in _PASSING_WORDS)
    return is_passing or isinstance(error, _PASSING)


@contextmanager
def translating(call: str = "", key: str = "") -> Iterator[None]:
    """Translates the driver's errors raised inside, in a *call* about *key*."""
    try:
        yield
    except (RedisError, RedisClusterException, OSError) as error:
        failure = translated(error, call, key)
        failure.key = key
        raise failure from error


class Rights:
    """What a client's user was permitted. What was permitted before and is not now has been taken away, and may come
    back: no refusal for good, as of a right that was never given. The same of all else while something is missing."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._are_missing = False

    def used(self, *calls: str, key: str = "") -> None:
        """These were permitted, on *key*."""
        self._given.update((*calls, pattern_of(key)))
        self._are_missing = False

    @contextmanager
    def translating(self, call: str) -> Iterator[None]:
        """As `translating`, of a *call* that is no script."""
        try:
            with translating(call):
                yield
        except FrontierRefusedError as error:
            raise self.judged(error, call) from error.__cause__
        self.used(call)

    def judged(self, error: FrontierRefusedError, call: str) -> FrontierError:
        """What *error* of *call* means."""
        denied = denied_by(error.__cause__, call, error.key)
        if not denied or not (self._are_missing or denied & self._given):
            return error
        self._are_missing = True
        return FrontierUnavailableError(str(error))


Mend = Callable[[str, str], Awaitable[bool]]


async def _no_mend(_command: str, _key: str) -> bool:
    return False


class Commands:
    """A client whose commands raise the frontier's errors. Its pipelines need `translating` around them.

    *mend* sets aside a key of another type than a command expects; the command is then sent once more if it says so.
    """

    def __init__(self, client: Any, mend: Mend = _no_mend, rights: Rights | None = None) -> None:
        self._client = client
        self._mend = mend
        self._rights = rights or Rights()

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._client, name)
        if not callable(attribute):
            return attribute

        def command(*arguments: Any, **options: Any) -> Any:
            result = attribute(*arguments, **options)
            if not inspect.iscoroutine(result):
                return result
            key = next((one if isinstance(one, str) else "" for one in arguments), "")
            return self._served(result, lambda: attribute(*arguments, **options), name.upper(), key)

        return command

    async def _served(
        self, result: Coroutine[Any, Any, Any], again: Callable[[], Awaitable[Any]], call: str, key: str
    ) -> Any:
        try:
            with translating(call, key):
                answer = await result
        except FrontierRefusedError as error:
            if "WRONGTYPE" not in str(error.__cause__) or not await self._mend(call, key):
                raise self._rights.judged(error, call) from error.__cause__
        else:
            self._rights.used(call, key=key)
            return answer
        with translating(call, key):
            return await again()
