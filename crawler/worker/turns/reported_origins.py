"""Which origins this worker has told the frontier of: a good answer is news once a minute."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from scrapy import Request

from crawler.urls import DEFAULT_PORTS
from crawler.utils import caches

MOST_ORIGINS = 10_000  # remembered as reported
NEWS_SECONDS = 60.0  # a Redis that forgets an idle host, or loses all, hears of it again: else no breaker guards it


class ReportedOrigins:
    """Hosts and origins with a good answer; forgets all of them each NEWS_SECONDS, and from MOST_ORIGINS on."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since = clock()
        self._answered: set[tuple[str, str]] = set()

    def news(self, host: str, request: Request | None, *, good: bool) -> str:
        """Scheme and port of *request*, and between them its host where that is not the politeness group; "" if this
        worker has reported them already."""
        if request is None:
            return ""
        start = caches.key(request.url[:8] + request.url[8:].partition("/")[0])
        if good:
            if len(self._answered) >= MOST_ORIGINS or self._clock() - self._since >= NEWS_SECONDS:
                self._answered.clear()
                self._since = self._clock()
            if (host, start) in self._answered:
                return ""
            self._answered.add((host, start))
        parts = urlsplit(request.url)
        name = "" if parts.hostname == host else f"{parts.hostname}:"
        return f"{parts.scheme}:{name}{parts.port or DEFAULT_PORTS.get(parts.scheme, 0)}"
