"""A writer on the real mongod, and what it stored."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.asynchronous.database import AsyncDatabase

from crawler.embedded.service import MONGOD
from crawler.storage import connection
from crawler.storage.connection import WRITE_CONCERN, Database
from crawler.storage.writer import Writer
from tests.integration.storage.observing import RecordedStats, a_writer
from tests.servers import Server

OWN = {"admin", "config", "local"}  # databases of mongod itself


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


@pytest.fixture(scope="module")
def mongod_of_module(tmp_path_factory: pytest.TempPathFactory, mongodb_uri: str) -> Iterator[Server]:
    """Beside the shared server, whose fixture skips or fails if there is none."""
    server = Server(MONGOD, tmp_path_factory.mktemp("mongod"))
    yield server
    server.kill()


@pytest.fixture
def mongod(mongod_of_module: Server) -> Server:
    """An empty server that the test may kill and freeze."""
    mongod_of_module.bring_up()
    with MongoClient[dict[str, Any]](mongod_of_module.url) as client:
        for name in {*client.list_database_names()} - OWN:
            client.drop_database(name)
    return mongod_of_module


@pytest.fixture
async def writer(database: Database, stats: RecordedStats) -> AsyncIterator[Writer]:
    writer = a_writer(database, stats, batch_ms=5)
    await writer.open()
    yield writer
    await writer.close()
