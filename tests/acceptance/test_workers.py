"""Two workers of one command store nearly twice what one stores, where they have cores of their own."""

from __future__ import annotations

import pytest
from rich.console import Console

from benchmarks import workers


@pytest.mark.skipif(bool(workers.too_few_cores()), reason=workers.too_few_cores() or "-")
def test_two_workers_store_nearly_twice_as_much() -> None:
    assert workers.gain(workers.measure(4_000, 3, Console())) >= workers.BAR
