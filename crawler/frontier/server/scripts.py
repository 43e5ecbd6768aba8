"""Builds the Lua scripts from the files below lua/ and runs them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster
from redis.exceptions import NoScriptError

from crawler.errors import ServiceError
from crawler.frontier.errors import FrontierError, FrontierRefusedError
from crawler.frontier.script_constants import SCHEMA
from crawler.frontier.server.failures import Rights, translating

Client = Redis | RedisCluster
_LUA = files("crawler.frontier") / "lua"
_INCLUDE = re.compile(r"^-- include ?(\w*): (.*)$", re.MULTILINE)  # with `window`: only where that mode is in use
_LITERAL = r"(?:-?[\d.]+|'[^']*')"
_CONSTANTS = re.compile(
    rf"^local ([A-Z][A-Z_]+(?:, [A-Z][A-Z_]+)*) = ({_LITERAL}(?:, {_LITERAL})*)(?: *--.*)?$", re.MULTILINE
)
_SAVES = re.compile(r"^local function (save_\w+)\(\)$", re.MULTILINE)
_SAVE = re.compile(r"^( *)save\(\)$", re.MULTILINE)
# In this order: each may still change what those behind it write.
_ORDER = ("records", "acks", "paces", "seen", "queue", "hosts", "pages", "budgets", "tallies", "state")
BASE = 3  # clock, damage and state, which all others use
_WRONG_TYPE = re.compile(r"WRONGTYPE.*\((\w+) (\{.*)\)")  # see lua/lib/shard/damage.lua
_TOKEN = re.compile(r"'(?:\\.|[^'\\])*'|--.*|\b[A-Z][A-Z_]+\b")


@cache
def operations() -> dict[str, Traversable]:
    """The file of each operation by its name, which is the only one of that name in all rooms of lua/."""
    return _by_name([room for room in _LUA.iterdir() if room.name != "lib"])


@cache
def library() -> dict[str, Traversable]:
    """The file of each part that operations include by its name, which is the only one of that name below lua/lib/."""
    return _by_name([*(_LUA / "lib").iterdir()])


def _by_name(rooms: Sequence[Traversable]) -> dict[str, Traversable]:
    return {entry.name.removesuffix(".lua"): entry for room in rooms for entry in room.iterdir()}


@cache
def source(name: str) -> str:
    """The text of an operation, or of a part as `lib/<name>`."""
    kind, _, part = name.rpartition("/")
    return (library()[part] if kind else operations()[name]).read_text()


def inlined(text: str, constants: Mapping[str, float | str]) -> str:
    """*text* without comments, and with *constants* and its own `local UPPER_CASE = literal` in place of their names.

    Lua 5.1 would make each of them an upvalue of every function that reads it, and looking those up when a script's
    functions are made took half of its time.
    """
    values = {name: repr(value) for name, value in constants.items()}

    def note(match: re.Match[str]) -> str:
        names, literals = match[1].split(", "), match[2].split(", ")
        values.update(zip(names, literals, strict=True))
        return ""

    def replaced(match: re.Match[str]) -> str:
        return "" if match[0].startswith("--") else values.get(match[0], match[0])

    return _TOKEN.sub(replaced, _CONSTANTS.sub(note, text))


def saving(body: str, parts: Sequence[str]) -> str:
    """*body* with calls of all that *parts* have to write, each before what it may change, in place of its `save()`."""
    found = {name for part in parts for name in _SAVES.findall(part)}
    names = [name for name in (f"save_{what}" for what in _ORDER) if name in found]
    if unknown := found.difference(names):
        raise ValueError(f"lua/lib: {', '.join(unknown)} has no place in the order of saves")
    return _SAVE.sub(lambda match: "\n".join(f"{match[1]}{name}()" for name in names), body)


def nested(parts: Sequence[str], body: str) -> str:
    """*parts* and *body*, all behind the first BASE parts in a function of its own.

    To make a function, Lua 5.1 looks for each local that it shares in a list of all of them, the first ones last; those
    of an enclosing function are at hand. That took a tenth of the time of a lease. And each function may have 200
    locals.
    """
    base, rest = parts[:BASE], (*parts[BASE:], body)
    return "\n".join((*base, "return (function()", *rest, "end)()") if base else rest)


@lru_cache(maxsize=256)
def _whole(
    shebang: str, parts: tuple[str, ...], body: str, constants: tuple[tuple[str, float | str], ...]
) -> tuple[str, str]:
    """The whole script and its SHA-1, made once for all frontiers of a process."""
    text = "\n".join((shebang, inlined(nested(parts, saving(body, parts)), dict(constants))))
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


class Scripts:
    """One script per operation: its first line, the parts it includes, its body, where `save()` writes what parts keep.

    *replaced* gives other texts by name: tests put a clock of their own in place of lib/clock.
    """

    def __init__(
        self, client: Client, constants: Mapping[str, float | str], replaced: Mapping[str, str] | None = None
    ) -> None:
        self._client = client
        self._constants = constants
        self._replaced = replaced or {}
        self._built: dict[str, tuple[str, str]] = {}
        self.rights = Rights()

    @property
    def has_windows(self) -> bool:
        """Whether fingerprints are kept for a window, in this configuration or by some generation."""
        return bool(self._constants.get("WINDOWS"))

    def serve_windows(self) -> None:
        """A generation keeps the mode that it was opened with: from now on end windows, too."""
        self._constants = {**self._constants, "WINDOWS": 1}
        self._built.clear()

    async def run(self, name: str, keys: Sequence[str], *arguments: bytes | str | float) -> Any:
        """Run the operation *name* on the node of *keys*; a server that does not know it yet is given its text.

        Raises FrontierError; ServiceError for data that another release wrote.
        """
        try:
            with translating(f"the script {name}", str(keys[0])):
                answer = await self._sent(name, keys, *arguments)
        except FrontierRefusedError as error:
            found = _WRONG_TYPE.search(str(error.__cause__)) if name != "mend" else None
            if found and await self.run("mend", keys, *found.groups()):
                return await self.run(name, keys, *arguments)
            raise _explained(self.rights.judged(error, f"script {name}")) from error.__cause__
        self.rights.used(f"script {name}", "EVALSHA", key=str(keys[0]))
        return answer

    async def _sent(self, name: str, keys: Sequence[str], *arguments: bytes | str | float) -> Any:
        text, digest = self._built.get(name) or self._build(name)
        try:
            return await self._client.evalsha(digest, len(keys), *keys, *arguments)
        except NoScriptError:
            return await self._client.eval(text, len(keys), *keys, *arguments)

    def text(self, name: str) -> str:
        """The whole script as the server gets it."""
        return (self._built.get(name) or self._build(name))[0]

    def digest(self, name: str) -> str:
        """What the server knows the script by."""
        return (self._built.get(name) or self._build(name))[1]

    def _build(self, name: str) -> tuple[str, str]:
        shebang, _, body = self._source(name).partition("\n")
        included = [
            part for mode, names in _INCLUDE.findall(body) if not mode or self.has_windows for part in names.split()
        ]
        parts = tuple(self._source(f"lib/{part}") for part in included)
        self._built[name] = _whole(shebang, parts, body, tuple(self._constants.items()))
        return self._built[name]

    def _source(self, name: str) -> str:
        return self._replaced.get(name) or source(name)


def _explained(error: FrontierError) -> ServiceError:
    if (found := re.search(r"SHOALSCHEMA (\d+)", str(error))) is None:
        return error
    newer = int(found[1]) > SCHEMA
    release, cure = ("a newer", "upgrade this worker") if newer else ("an older", "let that release finish its crawl")
    return ServiceError(
        f"the frontier's data in Redis was written by {release} release (schema {found[1]}, this one has {SCHEMA}): "
        f"{cure}, or use another FRONTIER_KEY"
    )
