"""Which browser context a page opens in, and when a context is replaced. Knows nothing of Playwright."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Self

from scrapy import Request

from crawler.handlers.forwarding import ContextCredentials
from crawler.handlers.route import Proxy, route

KEPT = 16  # contexts without an open page kept for reuse


@dataclass(frozen=True, slots=True)
class ContextKey:
    """What two requests must have in common to share a context, and with it cookies and caches."""

    user_agent: str
    proxy: Proxy | None
    jar: str = ""
    session: str = ""

    @classmethod
    def of(cls, request: Request) -> Self:
        """*jar* is Scrapy's `cookiejar`, *session* ours. Raises UnsupportedURLSchemeError for an invalid proxy."""
        return cls(
            (request.headers.get("User-Agent") or b"").decode("latin-1"),
            route(request).proxy,
            str(request.meta.get("cookiejar", "")),
            str(request.meta.get("session", "")),
        )


@dataclass(slots=True, eq=False)
class OpenContext:
    """One context. *open*: its currently open pages."""

    name: str
    wants: ContextKey
    admitted: ContextCredentials
    opened_at: float
    pages: int = 0
    open: int = 0


class Contexts:
    """Lends contexts for pages; each is replaced after *pages* pages or *seconds* seconds."""

    def __init__(
        self, pages: int, seconds: float, admit: Callable[[ContextKey], ContextCredentials], clock: Callable[[], float]
    ) -> None:
        self._pages = pages
        self._seconds = seconds
        self._admit = admit
        self._clock = clock
        self._names = count(1)
        self._current: dict[ContextKey, OpenContext] = {}
        self._retired: list[OpenContext] = []

    def lend(self, wants: ContextKey) -> OpenContext:
        """The context for one more page."""
        lent = self._current.get(wants)
        if lent is not None and (lent.pages >= self._pages or self._clock() - lent.opened_at >= self._seconds):
            self._retired.append(self._current.pop(wants))
            lent = None
        if lent is None:
            lent = OpenContext(f"context-{next(self._names)}", wants, self._admit(wants), self._clock())
        self._current.pop(wants, None)
        self._current[wants] = lent  # most recently used last
        lent.pages += 1
        lent.open += 1
        return lent

    def give_back(self, lent: OpenContext) -> None:
        """Note that a page of *lent* was closed."""
        lent.open -= 1

    def over(self) -> Iterator[OpenContext]:
        """Contexts to close now: retired, or least recently used; each is returned once."""
        idle = [lent for lent in self._current.values() if not lent.open]
        for lent in idle[: max(0, len(self._current) - KEPT)]:
            self._retired.append(self._current.pop(lent.wants))
        done, self._retired = (
            [lent for lent in self._retired if not lent.open],
            [lent for lent in self._retired if lent.open],
        )
        yield from done

    def clear(self) -> list[OpenContext]:
        """Forget and return all contexts: their browser is gone."""
        gone = [*self._current.values(), *self._retired]
        self._current.clear()
        self._retired.clear()
        return gone
