"""Responses of the busiest domains, counted for the whole fleet in Redis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from msgpack.exceptions import UnpackException

from crawler.frontier.errors import FrontierRefusedError
from crawler.frontier.server.shards import Shards, unpack

TOP: Final = 100
MOST_TOLD: Final = 100  # domains per worker and call: they include the busiest of the fleet
Answers = Mapping[Any, int]  # domain and outcome -> how many


class Domains:
    """A domain is a politeness group (POLITENESS_GROUP). Known weakness: a worker reports MOST_TOLD domains at a time
    and drops the rest, so counts of domains with few responses are too low."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def add(self, answers: Answers) -> None:
        """Count *answers*; the cost does not depend on the number of domains."""
        sums: Counter[str] = Counter()
        for (domain, _), count in answers.items():
            sums[domain] += count
        told = {domain for domain, _ in sums.most_common(MOST_TOLD)}
        rows = sorted((domain, outcome, count) for (domain, outcome), count in answers.items() if domain in told)
        if rows:
            await self._shards.run("domains", 0, *(part for row in rows for part in row))

    async def top(self, most: int = TOP) -> dict[str, dict[str, int]]:
        """The *most* recently busiest domains: domain -> outcome -> responses since it is counted."""
        try:
            names = await self._shards.client.zrevrange(self._shards.key(0, "domains:busy"), 0, most - 1)
            raws = await self._shards.client.hmget(self._shards.key(0, "domains"), names) if names else []
        except FrontierRefusedError:  # a key of another type: the next worker that tells sets it aside
            return {}
        return {name.decode(errors="replace"): _counts(raw) for name, raw in zip(names, raws, strict=True)}


def _counts(raw: bytes | None) -> dict[str, int]:
    try:
        known: Any = unpack(raw) if raw else {}
        return {str(name, errors="replace"): int(count) for name, count in known.items()}
    except (ValueError, TypeError, AttributeError, UnpackException):
        return {}  # damaged: starts again with the next worker's report
