"""Requests that no page waits for: those of `start()`. Until Redis holds them for good only this worker knows them."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from time import monotonic
from typing import Final

from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.frontier.messages import Message, PushOutcome
from crawler.frontier.server.shards import BATCH
from crawler.routing import codec
from crawler.worker.outbox.children import Push

AGAIN_SECONDS: Final = 5.0  # after a refusal
MOST_NAMED: Final = 20  # URLs in one log line
KEPT_SECONDS: Final = 10.0  # what was stored is remembered for so long: a restart or a failover may lose it again
MOST_KEPT: Final = 10_000  # of these

logger = logging.getLogger(__name__)


class Offers:
    """Sent when there is room, and retried every few seconds while there is none; sent again where Redis may have lost
    them.

    *stored* is called with the outcome of each request that the frontier has, *refused* for each refusal; *is_there*
    tells whether the shard of one is not away. `away` of these were not sent for that reason.
    """

    def __init__(
        self,
        stored: Callable[[Message, PushOutcome], None],
        refused: Callable[[], None],
        is_there: Callable[[Message], bool] = lambda _: True,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._stored = stored
        self._refused = refused
        self._is_there = is_there
        self._clock = clock
        self._waiting: deque[Message] = deque()
        self._kept: deque[tuple[float, Message]] = deque(maxlen=MOST_KEPT)  # stored, and when
        self.away = 0
        self._losses = 0
        self._again = float("-inf")
        self._said = False

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def left(self) -> list[Message]:
        """The requests that are not stored yet."""
        return list(self._waiting)

    def add(self, message: Message) -> None:
        """Add a request."""
        self._waiting.append(message)

    def lose(self) -> None:
        """Offer again what was stored last, and may be gone; what is there is known."""
        self.forget_old()
        self._waiting.extend(message for _, message in self._kept)
        self._kept.clear()
        self._losses += 1
        self.try_now()

    def forget_old(self) -> None:
        """Let go of what was stored too long ago to be lost."""
        since = self._clock() - KEPT_SECONDS
        while self._kept and self._kept[0][0] < since:
            self._kept.popleft()

    def try_now(self) -> None:
        """Retry at the next `send`."""
        self._again = float("-inf")

    def due(self) -> bool:
        """Whether `send` has anything to do."""
        return bool(self._waiting) and self._clock() >= self._again

    async def send(self, push: Push) -> None:
        """Send everything there is room for; one shard may have room while another has none."""
        left, self.away = len(self._waiting), 0
        while left > 0 and self.due():
            batch = list(islice(self._waiting, min(left, BATCH)))
            losses = self._losses
            away = [one for one in batch if not self._is_there(one)]
            asked = [one for one in batch if one not in away] if away else batch
            outcomes = await push(asked) if asked else []
            if losses != self._losses:  # its answer may be the lost server's
                return
            left -= len(batch)
            for _ in batch:
                self._waiting.popleft()
            refused = [one for one, outcome in zip(asked, outcomes, strict=True) if not self._taken(one, outcome)]
            self._waiting.extend(refused + away)
            self.away += len(away)
            if asked and len(refused) == len(asked):
                self._again = self._clock() + AGAIN_SECONDS
        if self.away:
            self._again = self._clock() + AGAIN_SECONDS
        self._said = self._said and bool(self._waiting)

    def _taken(self, message: Message, outcome: PushOutcome) -> bool:
        if not outcome.is_full:
            self._stored(message, outcome)
            self._kept.append((self._clock(), message))
            return True
        self._refused()
        if not self._said:
            logger.warning("The frontier refuses new start requests (%s): they wait in this worker", outcome)
        self._said = True
        return False


def tell_lost(lost: Sequence[Message], stats: StatsCollector) -> None:
    """Count and log requests that found no room until their worker ended: no page leads to them, so nothing will find
    them again."""
    if not lost:
        return
    stats.inc_value(names.START_LOST, len(lost))
    urls = [codec.url_of(message.body) for message in lost[:MOST_NAMED]]
    more = f" and {len(lost) - len(urls):,} more" if len(lost) > len(urls) else ""
    logger.error("%d start URLs were not stored. Push them again: %s%s", len(lost), ", ".join(urls), more)
