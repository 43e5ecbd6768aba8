"""Which fields the items of a run have, counted for the whole fleet in Redis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from crawler.frontier.errors import FrontierRefusedError
from crawler.frontier.run_record import Run, is_run_generation
from crawler.frontier.server.shards import Shards

PRESENT: Final = "present"
KEPT_MS: Final = 60 * 86_400_000  # a monthly run is compared with the one before it
ROWS: Final = 200  # per call
LEAST_ITEMS: Final = 20  # below this a share means little


class Coverage:
    """Only for runs with their own generation: others share counts with everything else there."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def add(self, spider: str, counts: Mapping[Any, int]) -> None:
        """Count by generation, grade and field (the keys, as tuples)."""
        rows: list[tuple[Any, ...]] = [(*key, count) for key, count in counts.items() if is_run_generation(key[0])]
        for at in range(0, len(rows), ROWS):
            parts = [
                part
                for generation, grade, field, count in rows[at : at + ROWS]
                for part in (f"{spider}:{generation}", grade, field, count)
            ]
            await self._shards.run("coverage", 0, KEPT_MS, *parts)

    async def of(self, run: Run) -> dict[str, float]:
        """Share of the run's items with each field; empty below LEAST_ITEMS."""
        if run.is_plain:
            return {}
        key = self._shards.key(0, f"fields:{run.spider}:{run.generation}")
        present: Counter[str] = Counter()
        items: Counter[str] = Counter()
        try:
            counts = await self._shards.client.hgetall(key)
        except FrontierRefusedError:  # of another type: the next worker that tells sets it aside
            return {}
        for name, value in counts.items():
            grade, _, field = name.decode(errors="replace").partition(":")
            count = int(value) if value.isdigit() else 0
            items[field] += count
            present[field] += count if grade == PRESENT else 0
        return {field: present[field] / count for field, count in items.items() if count >= LEAST_ITEMS}
