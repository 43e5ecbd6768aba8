"""Links cut by the scope: counted by rule, logged, and reported to the frontier before their page ends."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Final

from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.urls import without_credentials
from crawler.utils.caches import key

SAID_EVERY_SECONDS: Final = 60.0  # between log lines of one rule
REMEMBERED: Final = 50_000  # links, so that one on every page counts once

logger = logging.getLogger(__name__)


class ScopeCuts:
    """The cuts of one worker. A link counts once per worker that finds it, and again after REMEMBERED others."""

    def __init__(self, stats: StatsCollector, send: Callable[[str, str], None]) -> None:
        """*send* gets the generation and the rule."""
        self._stats = stats
        self._send = send
        self._known: dict[tuple[str, str, str], None] = {}
        self._unsaid: Counter[str] = Counter()
        self._said: dict[str, float] = {}

    def count(self, rule: str, url: str, generation: str) -> bool:
        """Count that *url* is not fetched in *generation* because of *rule*; False if counted before."""
        known = (rule, generation, key(url))
        if known in self._known:
            return False
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[known] = None
        self._stats.inc_value(names.SCOPE_CUT.format(rule))
        self._send(generation, rule)
        self._say(rule, url)
        return True

    def _say(self, rule: str, url: str) -> None:
        self._unsaid[rule] += 1
        if monotonic() - self._said.get(rule, float("-inf")) < SAID_EVERY_SECONDS:
            return
        self._said[rule] = monotonic()
        count = self._unsaid.pop(rule)
        logger.info("Out of scope by the rule %r: %d more, such as %s", rule, count, without_credentials(url)[:300])
