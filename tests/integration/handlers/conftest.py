"""Workers of one test, as for the tests of crawls, and a browser for a module."""

from collections.abc import AsyncIterator

import pytest_asyncio

from crawler.handlers.browser.handler import BrowserDownloadHandler
from tests.integration.crawl.conftest import fleet
from tests.integration.handlers.browsing import opened

__all__ = ["fleet"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def handler() -> AsyncIterator[BrowserDownloadHandler]:
    async with opened() as one:
        yield one
