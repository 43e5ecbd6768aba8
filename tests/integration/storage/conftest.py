"""A writer on the real mongod, and what it stored."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pymongo.asynchronous.database import AsyncDatabase

from crawler.storage import connection
from crawler.storage.connection import WRITE_CONCERN, Database
from crawler.storage.writer import Writer
from tests.integration.storage.observing import RecordedStats, a_writer


@pytest.fixture
def stats() -> RecordedStats:
    return RecordedStats()


@pytest.fixture
def database(mongo_database: AsyncDatabase[dict[str, Any]]) -> Database:
    return mongo_database.with_options(write_concern=WRITE_CONCERN)


@pytest.fixture
def clamped(database: Database, mongodb_uri: str) -> Database:
    """As `connection.connect` reads it."""
    seconds = {"STORAGE_CONNECT_SECONDS": 5, "STORAGE_REPLY_SECONDS": 20, "STORAGE_RETRY_MAX_SECONDS": 15}
    options = connection.connect({"MONGODB_URI": mongodb_uri, **seconds}).codec_options
    return database.with_options(codec_options=options)


@pytest.fixture
async def writer(database: Database, stats: RecordedStats) -> AsyncIterator[Writer]:
    writer = a_writer(database, stats, batch_ms=5)
    await writer.open()
    yield writer
    await writer.close()
