"""Commands look where the spider that they name is crawled."""

from __future__ import annotations

import json

import pytest

from tests.crawling import WORKER, Fleet, options
from tests.servers import ScrapyRunner

URL = "https://shop.example/1"


@pytest.fixture
def apart(fleet: Fleet) -> Fleet:
    """`apart` has a FRONTIER_KEY of its own, in which one URL is queued."""
    fleet.runner.env["TEST_APART"] = fleet.key
    status, told, _ = scrapy(fleet, "push", "apart", URL)
    assert (status, told) == (0, f"1 pushed to apart (run {run_of(told)})\n")
    return fleet


def scrapy(fleet: Fleet, *args: str, **settings: str) -> tuple[int, str, str]:
    given = {"SPIDER_MODULES": WORKER["SPIDER_MODULES"]} | settings
    result = fleet.runner.run(*args, *options(given))
    assert "Traceback" not in result.stderr
    return result.returncode, result.stdout, result.stderr


def run_of(told: str) -> str:
    return told.rpartition("(run ")[2].rstrip(")\n")


def test_commands_look_where_the_spider_is_crawled(apart: Fleet) -> None:
    assert json.loads(scrapy(apart, "status", "apart", "--json")[1])["spiders"]["apart"]["queued"] == 1
    assert json.loads(scrapy(apart, "runs", "apart", "--json")[1])["spider"] == "apart"
    assert scrapy(apart, "find", URL, "--spider", "apart")[0] == 0
    assert scrapy(apart, "dead", "list", "apart")[0] == 0
    assert scrapy(apart, "control", "priority", "5", "--spider", "apart", "--yes")[1] == "1 request reprioritised\n"


def test_what_is_said_on_the_command_line_wins(apart: Fleet) -> None:
    seen = json.loads(scrapy(apart, "status", "apart", "--json", FRONTIER_KEY=f"{apart.key}-other")[1])
    assert seen["spiders"] == {}


def test_a_schedule_whose_pushes_no_worker_would_see_is_refused(apart: Fleet) -> None:
    asked = ("schedule", "add", "nightly", "apart", URL, "--every", "1d")
    status, _, error = scrapy(apart, *asked)
    assert (status, len(error.splitlines())) == (2, 1)
    assert "spider apart has FRONTIER_KEY of its own" in error
    assert scrapy(apart, *asked, FRONTIER_KEY=apart.key)[0] == 0


def test_a_schedule_is_taken_on_the_bundled_servers(scrapy_run: ScrapyRunner) -> None:
    added = scrapy_run.run("schedule", "add", "nightly", "products", URL, "--every", "1d")
    assert (added.returncode, "added nightly" in added.stdout) == (0, True), added.stderr


@pytest.mark.parametrize(
    ("asked", "status"), [(("runs", "show", "20200101-1"), 2), (("dead", "show", "0:99999999"), 1)]
)
def test_what_finds_nothing_says_where_the_spider_would_be_seen(
    apart: Fleet, asked: tuple[str, ...], status: int
) -> None:
    hint = f"spider apart has a place of its own: -s FRONTIER_KEY={apart.key} looks there"
    answered, _, error = scrapy(apart, *asked)
    assert (answered, error.splitlines().count(hint)) == (status, 1), error
    assert hint not in scrapy(apart, *asked, FRONTIER_KEY=apart.key)[2]
