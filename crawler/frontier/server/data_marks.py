"""Notices that a shard has lost its data, or went back to an older state, from what each lease call says of them, and
each call of who would lead."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from crawler.frontier.script_constants import SEQ_PER_MS
from crawler.frontier.server.shards import Shards

SET_BACK: Final = (
    "Redis went back to an older state: push again what was pushed since then. Schedules are as they were, and their "
    "ticks since then are due again"
)

logger = logging.getLogger(__name__)


class DataMarks:
    """The birth and the last id of each shard's data, as last seen; *on_other_data* is called before what shows a
    change is returned."""

    def __init__(self, shards: Shards, on_other_data: Callable[[], None]) -> None:
        self._shards = shards
        self._on_other_data = on_other_data
        self._marks: dict[int, tuple[int, int]] = {}

    def is_other(self, shard: int, born: int, seq: int) -> bool:
        """Whether the shard has lost its data since the last call; reports a state that is lost alone, or older."""
        born_before, seq_before = self._marks.get(shard, (born, seq))
        self._marks[shard] = born, seq
        is_older = born == born_before and seq < seq_before
        if is_older:
            logger.error(SET_BACK)
        is_new = born != born_before
        if is_new or is_older:
            self._on_other_data()
        if is_new and seq >= born * SEQ_PER_MS:
            logger.error(
                "Redis lost %s, or it was damaged: what is queued is still there and is counted again",
                self._shards.key(shard, "state"),
            )
            return False
        return is_new
