"""What hosts answered is counted once, also where Redis refuses it for a while."""

from __future__ import annotations

from collections import Counter
from typing import Any
from unittest.mock import AsyncMock

import pytest

from crawler.counting.tallies import Tallies
from crawler.frontier.errors import FrontierUnavailableError
from crawler.worker.upkeep.tally_sender import TallySender


class Domains:
    """Takes nothing while it is told to refuse."""

    def __init__(self) -> None:
        self.refusal: Exception | None = None
        self.told: Counter[tuple[str, ...]] = Counter()

    async def add(self, answers: Counter[tuple[str, ...]]) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.told.update(answers)


async def test_what_hosts_answered_is_told_once_redis_takes_it() -> None:
    tallies, domains = Tallies(), Domains()
    made: Any = TallySender
    sender: TallySender = made(tallies, domains, AsyncMock(), "s")
    for _ in range(3):
        tallies.answers.add("a.example", "ok")
    domains.refusal = FrontierUnavailableError("away")
    with pytest.raises(FrontierUnavailableError):
        await sender.send()
    tallies.answers.add("a.example", "ok")
    domains.refusal = None
    await sender.send()
    await sender.send()
    assert domains.told == {("a.example", "ok"): 4}
