"""Workers of one test, on the shared servers but in a frontier and a database of their own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from pymongo.asynchronous.database import AsyncDatabase

from tests.crawling import Fleet
from tests.integration.crawl.quotes import Crawls, quotes_site
from tests.servers import ScrapyRunner
from tests.sites import Site


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


@pytest.fixture
def site() -> Iterator[Site]:
    """The site of quotes; many modules have a site of their own in its place."""
    with quotes_site() as site:
        yield site


@pytest.fixture
def crawls(fleet: Fleet, site: Site) -> Crawls:
    """Crawls of *site* by the documented spiders."""
    return Crawls(fleet, site)
