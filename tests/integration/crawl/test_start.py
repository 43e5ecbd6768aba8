"""What `scrapy crawl` refuses to start with: one line that says what, where and what is allowed; exit status 2."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.crawling import FAST, Fleet, ended, options

WRONG = "tests.integration.crawl.wrong_spiders"


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"CONCURRENT_REQUESTS": 0}, "CONCURRENT_REQUESTS = '0' is invalid: expected an integer from 1 to"),
        ({"FRONTIER_POLL_SECONDS": "often"}, "FRONTIER_POLL_SECONDS = 'often' is invalid: expected a number"),
        ({"MAX_IDLE_TIME_BEFORE_CLOSE": -1}, "MAX_IDLE_TIME_BEFORE_CLOSE = '-1' is invalid: expected a number"),
        ({"RETRY_BASE_SECONDS": -1}, "RETRY_BASE_SECONDS = '-1' is invalid: expected a number from 0"),
        ({"DOWNLOAD_SLOTS": {"a.example": {"delay": -1}}}, "DOWNLOAD_SLOTS['a.example'] = "),
        ({"SCHEDULER_PERSIST": "False"}, "SCHEDULER_PERSIST = False is invalid: expected True: the queue"),
        ({"SCHEDULER_FLUSH_ON_START": "True"}, "use `scrapy push --recrawl` to crawl everything again"),
        ({"SCHEDULER_SERIALIZER": "pickle"}, "None: requests are stored as msgpack, never as pickle"),
        (
            {"SCHEDULER": "tests.crawling.Fleet"},
            "SCHEDULER = 'tests.crawling.Fleet' is invalid",
        ),
        ({"REDIS_URL": "redis://127.0.0.1:PORT"}, "Redis at 127.0.0.1:PORT does not answer"),
        ({"MONGODB_URI": "mongodb://127.0.0.1:PORT", "STORAGE_CONNECT_SECONDS": 0.5}, "127.0.0.1:PORT"),
        ({"DOMAINS_FILE": "BROKEN"}, "BROKEN, line 2: "),
        ({"AUTOTHROTTLE_DEBUG": "yes"}, "AUTOTHROTTLE_DEBUG = 'yes' is invalid: expected True or False"),
    ],
)
def test_a_mistake_in_the_settings_is_one_line(
    fleet: Fleet, tmp_path: Path, settings: dict[str, Any], complaint: str
) -> None:
    broken = tmp_path / "domains.toml"
    broken.write_text('["shop.example"]\ndelay_seconds = "soon"\n')
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))

        def filled(text: str) -> str:
            return text.replace("PORT", str(closed.getsockname()[1])).replace("BROKEN", str(broken))

        given = options({"FRONTIER_KEY": fleet.key} | settings)
        result = fleet.runner.run("crawl", "products", *map(filled, given))
        assert "Traceback" not in result.stderr
        assert filled(complaint) in result.stderr.splitlines()[-1]
        assert result.returncode == 2


FAULTS = {  # in the order of crawler/startup/README.md
    "LOG_LEVEL": "LOUD",
    "SPIDER_MODULES": "nowhere.spiders",
    "FRONTIER_POLL_SECONDS": "often",
    "METRICS_PORT": 70_000,
    "SCHEDULER_PERSIST": "False",
    "CLOSESPIDER_ITEMCOUNT": -1,
    "FEEDS": {"items.jsonl": {"format": "odd"}},
    "EXTENSIONS": {"nowhere.Extension": 1},
    "REFERRER_POLICY": "nowhere",
    "REDIS_URL": "redis://127.0.0.1:1",
}


def test_the_first_of_several_faults_is_named_in_the_order_that_is_told(fleet: Fleet) -> None:
    names = [*FAULTS]
    for at, name in enumerate(names):
        left = {one: FAULTS[one] for one in names[at:]}
        told = fleet.runner.run("crawl", "products", *options({"FRONTIER_KEY": fleet.key} | left)).stderr
        assert ("Redis at 127.0.0.1:1 does" if name == "REDIS_URL" else name) in told.splitlines()[-1]


def test_an_unknown_spider_is_named(fleet: Fleet) -> None:
    result = fleet.runner.run("crawl", "nope")
    assert result.returncode == 2
    assert result.stderr == "scrapy crawl: there is no spider 'nope', `scrapy list` shows them\n"


@pytest.mark.parametrize("names", [[], ["products", "pages"]])
def test_no_spider_or_several_are_one_line(fleet: Fleet, names: list[str]) -> None:
    result = fleet.runner.run("crawl", *names)
    assert (result.returncode, result.stderr) == (2, "scrapy crawl: name one spider, `scrapy list` shows them\n")


def test_a_spider_with_a_wrong_name_is_one_line(fleet: Fleet) -> None:
    result = fleet.runner.run("crawl", "a:b", *options({"SPIDER_MODULES": WRONG, "FRONTIER_KEY": fleet.key}))
    assert (result.returncode, "Traceback" in result.stderr) == (2, False)
    assert "name of the spider = 'a:b' is invalid: expected a name without ':'" in result.stderr.splitlines()[-1]


def test_a_pipeline_that_cannot_be_opened_says_so_and_nothing_else(fleet: Fleet) -> None:
    closed = {"ITEM_PIPELINES": {f"{WRONG}.ClosedPipeline": 500}, "FRONTIER_KEY": fleet.key}
    result = fleet.runner.run("crawl", "products", *options(FAST | closed))
    assert (result.returncode, "Traceback" in result.stderr) == (2, False)
    said = "scrapy crawl: the files of ClosedPipeline are in use: end the other crawl"
    assert result.stderr.splitlines()[-1] == said
    assert "'finish_reason': 'shutdown'" in result.stderr


async def test_start_requests_that_end_with_an_error_fail_the_command(fleet: Fleet) -> None:
    status, log = await ended(fleet.start("raising", SPIDER_MODULES=WRONG))
    assert (status, "'finish_reason': 'start_error'" in log) == (1, True)


@pytest.mark.parametrize("how", ["stop", "cancel"])
async def test_a_crawl_that_its_spider_cuts_off_fails_the_command(fleet: Fleet, how: str) -> None:
    arguments = ["-a", f"how={how}", *fleet.options(SPIDER_MODULES=WRONG)]
    status, log = await ended(fleet.runner.fork("crawl", "cut_off", *arguments))
    assert (status, log.count("The crawl of cut_off was cut off")) == (1, 1)


async def test_a_worker_that_cannot_go_on_says_why_and_fails(fleet: Fleet) -> None:
    key = f"{fleet.key}:start"
    with redis.Redis.from_url(fleet.redis_url) as client:
        client.sadd(key, "http://a.example/")
    status, log = await ended(fleet.start(REDIS_START_URLS_KEY=key))
    assert status == 1
    assert f"expected the type of key {key}, a set: REDIS_START_URLS_AS_SET = True" in log
    assert "Traceback" not in log
    assert "'finish_reason': 'frontier_error'" in log
