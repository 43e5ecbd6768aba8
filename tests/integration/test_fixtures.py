"""The shared fixtures do what they say: two tests each, so that the second sees what the first left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio
from pymongo.asynchronous.database import AsyncDatabase

from crawler.embedded.service import VALKEY
from tests.servers import ScrapyRunner
from tests.stores import SECONDS, until
from tests.zygote import PROJECT_DIR, Zygote


@pytest.mark.parametrize("turn", [1, 2])
async def test_each_test_gets_an_empty_redis(redis_client: redis.asyncio.Redis, turn: int) -> None:
    assert await redis_client.dbsize() == 0
    assert await redis_client.set("turn", turn)


@pytest.mark.parametrize("turn", [1, 2])
async def test_each_test_gets_an_empty_database(mongo_database: AsyncDatabase[dict[str, Any]], turn: int) -> None:
    assert await mongo_database.list_collection_names() == []
    assert (await mongo_database.turns.insert_one({"turn": turn})).acknowledged


def test_scrapy_processes_see_the_servers_of_the_test(
    scrapy_with_servers: ScrapyRunner, redis_url: str, mongodb_uri: str
) -> None:
    assert _setting(scrapy_with_servers, "REDIS_URL") == redis_url
    assert _setting(scrapy_with_servers, "MONGODB_URI") == mongodb_uri


def test_no_scrapy_process_loads_pytest() -> None:
    program = "from importlib.metadata import entry_points; print(*(one.name for one in entry_points(group='{}')))"
    command = [sys.executable, "-c", program.format("scrapy.commands")]
    names = subprocess.run(command, cwd=PROJECT_DIR, capture_output=True, text=True, check=True).stdout.split()
    assert "crawl" in names
    assert "savefixture" not in names, "scrapy-poet's command, which needs pytest"


def test_zygotes_of_one_name_are_one_process_until_the_last_is_closed(
    zygote: Zygote, project_env: dict[str, str]
) -> None:
    other = Zygote(zygote.name)
    other.wait()
    assert _parent_of_a_fork(other, project_env) == _parent_of_a_fork(zygote, project_env)
    other.close()
    assert _parent_of_a_fork(zygote, project_env)


def test_a_worker_is_a_fork_of_what_has_imported_the_tests() -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("one process alone imports what it runs")
    spec = sys.modules["__main__"].__spec__
    assert spec is not None
    assert spec.name == "tests.preloaded"


def test_a_server_of_a_test_ends_with_a_test_run_that_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from crawler.embedded.service import VALKEY; "
        "from tests.servers import Server; print(Server(VALKEY, Path(sys.argv[1])).port, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, cwd=PROJECT_DIR, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        port = int(run.stdout.readline())
        assert VALKEY.is_ready(port)
        run.kill()
    until(lambda: not VALKEY.is_ready(port))


def _setting(runner: ScrapyRunner, name: str) -> str:
    return runner.run("settings", "--get", name).stdout.strip()


def _parent_of_a_fork(zygote: Zygote, env: dict[str, str]) -> int:
    forked = zygote.fork(["version"], env, PROJECT_DIR)
    status = Path(f"/proc/{forked.pid}/status").read_text()
    assert forked.wait(SECONDS) == 0
    forked.close()
    return int(status.partition("PPid:")[2].split()[0])
