"""Fixtures that every room's tests share: real servers, clean databases, `scrapy` processes."""

from __future__ import annotations

import gc
import logging
import os
import shlex
import signal
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio
from hypothesis import HealthCheck, settings
from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase
from scrapy.core.downloader import contextfactory  # noqa: F401 - it looks at every module there is: import it soon

from crawler.errors import ServiceError
from tests import memory, servers
from tests.clusters import Cluster
from tests.effort import EXAMPLES
from tests.zygote import Zygote

# No site of a test is signed by an authority of this machine. To read all 150 of them took a fifth of a crawl's start.
os.environ["SSL_CERT_FILE"] = str(Path(__file__).with_name("authority.pem"))

# A fifth of each `scrapy` process' start was pytest, which scrapy-poet's command loads where scrapy-poet is installed.
LEAN = Path(__file__).with_name("lean")
searched = dict.fromkeys([str(LEAN), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, searched))

# redis-py reads its version from a file for each connection: 2 % of what a test of the frontier takes.
metadata.version = cache(metadata.version)

LOGGERS = [logging.getLogger(name) for name in ("", "scrapy", "twisted", "hpack", "pymongo", "redis")]
LEVELS = {logger: logger.level for logger in LOGGERS}

# A busy machine is no failure: examples have no deadline.
settings.register_profile(
    "unhurried", settings(), max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: list[Any]) -> None:
    """Workers are forks: the imports of the tests took each of them longer than the rest of its start. Not elsewhere
    than on Linux, whose sockets have names without a file."""
    for spec in specs if sys.platform == "linux" else ():
        spec.python = shlex.join([sys.executable, "-m", "tests.preloaded", *config.args])
    if taken := memory.take():
        os.environ[memory.VARIABLE] = str(taken)
        config.add_cleanup(lambda: memory.give_back(taken))


def pytest_sessionstart() -> None:
    """Ten thousand tests are made, and all of them stay: to look for garbage meanwhile took a tenth of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Nor is there any among them later."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def log_levels() -> Iterator[None]:
    """What Scrapy's set-up of logging changes is put back, in a fixture of a module, too: other tests count lines."""
    yield
    for logger, level in LEVELS.items():
        if logger.level != level:  # to set one empties all loggers' caches
            logger.setLevel(level)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of what all pytest-xdist workers share."""
    base = tmp_path_factory.getbasetemp()
    return memory.given() or (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "servers"


@pytest.fixture(scope="session")
def redis_url(shared: Path) -> str:
    """A real Valkey on a port and a directory of its own, one for each pytest-xdist worker."""
    return servers.start(shared / os.environ.get("PYTEST_XDIST_WORKER", "alone"), redis=True).redis_url


@pytest.fixture(scope="session")
def mongodb_uri(shared: Path) -> str:
    """A real mongod, shared by all pytest-xdist workers: tests keep to databases of their own."""
    return servers.start(shared, mongodb=True).mongodb_uri


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A Valkey Cluster of three nodes, one for each pytest-xdist worker."""
    try:
        made = Cluster(tmp_path_factory.mktemp("cluster"))
    except ServiceError as error:
        servers.missing(error)
    yield made
    made.kill()


@pytest.fixture
async def redis_client(redis_url: str) -> AsyncIterator[redis.asyncio.Redis]:
    """A client of the empty database of `redis_url`."""
    async with redis.asyncio.from_url(redis_url) as client:
        await client.flushall()
        yield client


@pytest.fixture
async def mongo_database(mongodb_uri: str) -> AsyncIterator[AsyncDatabase[dict[str, Any]]]:
    """An empty database that no other test has."""
    async with AsyncMongoClient[dict[str, Any]](mongodb_uri, tz_aware=True) as client:
        database = client[f"test_{uuid.uuid4().hex}"]
        yield database
        await client.drop_database(database.name)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as in a terminal: tests in a background job ignore it, and so would what they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def project_env(tmp_path: Path) -> dict[str, str]:
    """The environment of a `scrapy` process: test settings, bundled servers in a directory of this test."""
    return servers.environment(tmp_path / "services")


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    """What `scrapy` processes are forked from, shared by all pytest-xdist workers."""
    loaded = Zygote(os.environ.get("PYTEST_XDIST_TESTRUNUID", ""))
    loaded.wait()  # or the first test's command comes late, up to a minute on a busy machine
    yield loaded
    loaded.close()


@pytest.fixture
def scrapy_run(project_env: dict[str, str], zygote: Zygote) -> Iterator[servers.ScrapyRunner]:
    """Runs `scrapy ...` with `project_env`: `.run("crawl", "products")` to its end, `.start(...)` beside."""
    runner = servers.ScrapyRunner(project_env, zygote)
    yield runner
    runner.close()


@pytest.fixture
def scrapy_with_servers(
    scrapy_run: servers.ScrapyRunner,
    redis_client: redis.asyncio.Redis,
    redis_url: str,
    mongo_database: AsyncDatabase[dict[str, Any]],
    mongodb_uri: str,
) -> servers.ScrapyRunner:
    """The same on the servers of `redis_client` and `mongo_database`, whose databases are empty."""
    scrapy_run.env.update(REDIS_URL=redis_url, MONGODB_URI=mongodb_uri, MONGODB_DATABASE=mongo_database.name)
    return scrapy_run
