"""Crawls of these tests use the shared Redis, each in a frontier of its own (visiting.py)."""

from __future__ import annotations

import pytest

from tests.servers import ScrapyRunner


@pytest.fixture
def scrapy_run(scrapy_run: ScrapyRunner, redis_url: str) -> ScrapyRunner:
    """The project's runner, with a Redis."""
    scrapy_run.env["REDIS_URL"] = redis_url
    return scrapy_run
