"""How `scrapy reparse` shares its work."""

from __future__ import annotations

import pytest

from crawler.commands.reparse import sensible_workers


@pytest.mark.parametrize(
    ("pages", "cores", "workers"),
    [(1, 8, 1), (999, 8, 1), (1_000, 8, 2), (1_000, 1, 1), (100_000, 2, 2), (100_000, 64, 4)],
)
def test_there_is_a_worker_for_each_core_and_enough_pages_for_each_worker(pages: int, cores: int, workers: int) -> None:
    assert sensible_workers(pages, cores) == workers
