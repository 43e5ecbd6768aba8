"""What a worker does when Redis may have lost data."""

from __future__ import annotations

from operator import attrgetter
from typing import Any
from unittest.mock import Mock

import pytest

from crawler.frontier.server.losses import DataLossListeners
from crawler.worker.worker import Worker

REMEMBERING = (
    *("dupefilter.clear", "tiers.forget", "generation.forget", "frontier.rules.anew"),
    *("frontier.runs.forget", "queue.encoder.scopes.forget", "plain_runs.forget"),
)


@pytest.mark.parametrize("part", REMEMBERING)
def test_what_is_remembered_of_redis_is_forgotten_when_it_may_be_lost(part: str) -> None:
    hearing: Any = Worker.__new__(Worker)
    hearing.losses = DataLossListeners()
    for name in ("dupefilter", "tiers", "generation", "frontier", "queue", "plain_runs", "outbox"):
        setattr(hearing, name, Mock())
    hearing._listen()
    name, _, rest = part.partition(".")
    forget = attrgetter(rest)(getattr(hearing, name))
    hearing.losses.forget()
    assert (forget.call_count, hearing.outbox.lose.call_count) == (1, 0)
    hearing.frontier.on_other_data()
    assert (forget.call_count, hearing.outbox.lose.call_count) == (2, 1)
