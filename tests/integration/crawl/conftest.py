"""Workers of one test, on the shared servers but in a frontier and a database of their own."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from pymongo.asynchronous.database import AsyncDatabase

from tests.crawling import Fleet
from tests.servers import ScrapyRunner


@pytest.fixture
def fleet(
    scrapy_run: ScrapyRunner,
    redis_url: str,
    mongodb_uri: str,
    mongo_database: AsyncDatabase[dict[str, Any]],
) -> Fleet:
    """No worker yet; `mongo_database` holds what they store."""
    scrapy_run.env.update(REDIS_URL=redis_url, MONGODB_URI=mongodb_uri, MONGODB_DATABASE=mongo_database.name)
    return Fleet(scrapy_run, redis_url, f"test-{uuid.uuid4().hex}")
