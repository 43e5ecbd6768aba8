"""`scrapy serve` and `scrapy schedule` as people run them: two replicas, one of them killed in the middle of a push."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from scrapy.cmdline import ScrapyArgumentParser
from scrapy.exceptions import UsageError

from crawler.commands.schedule import Command
from crawler.frontier.frontier import Frontier
from crawler.frontier.state.schedules import Timetable
from tests.crawling import open_frontier, options
from tests.servers import ScrapyRunner
from tests.shipped import shipped
from tests.zygote import Forked

LINES = 20_000
ADD = ("add", "s", "products")
URL = "https://a.example/"
SECONDS = 90


@pytest.fixture
def key() -> str:
    return f"test-{uuid.uuid4().hex}"


class InProcess:
    """`scrapy schedule` in this process."""

    def __init__(self, redis_url: str, key: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._settings = {"REDIS_URL": redis_url, "FRONTIER_KEY": key}
        self._capsys = capsys

    def __call__(self, *arguments: str | Path) -> tuple[int, str, str]:
        """Exit status, standard output, and what went wrong."""
        command = Command()
        command.settings = shipped("settings.test", **self._settings)
        parser = ScrapyArgumentParser(conflict_handler="resolve", usage="scrapy schedule")
        command.add_options(parser)
        wrong = ""
        try:
            opts, args = parser.parse_known_args([str(argument) for argument in arguments])
            command.run(args, opts)
        except UsageError as error:
            command.exitcode, wrong = 2, str(error)
        except SystemExit as error:  # argparse's, which has said why
            command.exitcode = int(error.code or 0)
        told = self._capsys.readouterr()
        return int(command.exitcode or 0), told.out, told.err + wrong


@pytest.fixture
def schedule(redis_url: str, key: str, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return InProcess(redis_url, key, capsys)


async def until(frontier: Frontier, is_so: Callable[[Timetable], object]) -> Timetable:
    async with asyncio.timeout(SECONDS):
        while not is_so(seen := await frontier.schedules.look()):  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.02)
    return seen


@pytest.fixture
def replicas(scrapy_run: ScrapyRunner, redis_url: str, key: str) -> list[Forked]:
    given = {"FRONTIER_KEY": key, "REDIS_URL": redis_url, "SERVE_PORT": 0, "SERVE_LEASE_SECONDS": 1}
    return [scrapy_run.fork("serve", *options(given)) for _ in range(2)]


async def test_a_push_whose_leader_is_killed_is_ended_by_the_other(
    replicas: list[Forked], schedule: InProcess, redis_url: str, key: str, tmp_path: Path
) -> None:
    urls = tmp_path / "urls.txt"
    urls.write_text("\n".join(f"https://{number % 97}.example/{number}" for number in range(LINES)))
    async with open_frontier(redis_url, key) as frontier:
        await frontier.open()
        status, told, _ = await asyncio.to_thread(
            schedule, "add", "nightly", "products", urls, "--cron", "0 3 * * *", "--zone", "Europe/Berlin"
        )
        assert (status, told[:27]) == (0, "added nightly: first tick 2")
        leader = (await until(frontier, lambda seen: seen.leader)).leader
        assert (await asyncio.to_thread(schedule, "run", "nightly"))[::2] == (0, "")
        await until(frontier, lambda seen: seen.ticks and "pushed" in seen.ticks[0].state)
        (victim,) = (replica for replica in replicas if str(replica.pid) in leader.split(":"))
        victim.kill()
        (other,) = (replica for replica in replicas if replica is not victim)
        seen = await until(frontier, lambda seen: "nightly" in seen.last)
        assert str(other.pid) in seen.leader.split(":")
        (run,) = await frontier.runs.find()
        assert (run.state, run.counts.accepted, run.id) == ("sealed", LINES, json.loads(seen.last["nightly"])["run"])
        other.send_signal(signal.SIGTERM)
        assert other.wait(SECONDS) == 0
        assert (await frontier.schedules.look()).leader == "", "it has given up its lease"
    assert "Traceback" not in other.log + victim.log
    assert "This replica leads (token 2)" in other.log


def test_a_schedule_from_its_beginning_to_its_end(schedule: InProcess) -> None:
    assert schedule("list") == (0, "No schedules.\n", "no `scrapy serve` runs: schedules wait until one does\n")
    assert schedule("add", "s", "products", "https://a.example/", "--every", "6h", "--priority", "-3")[0] == 0
    told = json.loads(schedule("list", "--json")[1])
    assert (told["when"], told["source"], told["priority"], told["state"]) == ("every 6h", "https://a.example/", -3, "")
    assert schedule("pause", "s")[:2] == (0, "s paused\n")
    assert json.loads(schedule("show", "s", "--json")[1])["state"] == "paused"
    assert schedule("pause", "s")[:2] == (0, "s is paused\n")
    assert schedule("resume", "s")[1].startswith("s goes on: next tick 2")
    assert schedule("run", "s")[1].startswith("s: tick now-")
    assert len(json.loads(schedule("show", "s", "--json")[1])["waiting"]) == 1
    assert "every 6h" in schedule("show", "s")[1]
    assert schedule("remove", "s")[:2] == (0, "removed s; what it has begun to push is sealed\n")
    for verb in ("show", "run", "pause"):
        status, _, errors = schedule(verb, "s")
        assert (status, "there is no schedule 's': `scrapy schedule list` shows them" in errors) == (2, True)


@pytest.mark.parametrize(
    "damage",
    [
        {"schedules": "{"},
        {"schedules:cursor": "9" * 30},
        {"schedules:cursor": "x"},
        {"schedules:missed": "x"},
        {"schedules:last": "[1]"},
        {"schedules:last": '{"run": {}, "pushed": "x", "refused": []}'},
        {"ticks": "x"},
    ],
    ids=str,
)
def test_what_is_damaged_is_shown_as_far_as_it_goes(
    schedule: InProcess, redis_url: str, key: str, damage: dict[str, str]
) -> None:
    assert schedule("add", "s", "products", URL, "--cron", "@daily")[0] == 0
    ((of, value),) = damage.items()
    with redis.Redis.from_url(redis_url) as client:
        client.hset(f"{{{key}:0}}:{of}", "s:7" if of == "ticks" else "s", value)
    assert schedule("list")[0] == 0
    assert json.loads(schedule("list", "--json")[1])["name"] == "s"
    assert schedule("show", "s")[0] == 0
    assert schedule("remove", "s")[0] == 0


def test_sitemaps_and_what_is_due_are_sources(schedule: InProcess) -> None:
    assert schedule("add", "a", "products", "--sitemap", "https://a.example/s.xml", "--every", "1d")[0] == 0
    sites = ("--sitemap", "robots", "https://a.example", "https://b.example/", "--exclude", "/cart")
    assert schedule("add", "b", "products", *sites, "--every", "1d", "--changed-only")[0] == 0
    assert schedule("add", "c", "products", "--due", "2000", "--every", "1h")[0] == 0
    told = [json.loads(line)["source"] for line in schedule("list", "--json")[1].splitlines()]
    assert told == [
        "sitemap https://a.example/s.xml",
        "sitemaps of https://a.example, https://b.example/",
        "documents that are due, visits a day: 2000",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "name one of add, list"),
        (("ad",), "name one of add, list"),
        (("show",), "then the schedule's name"),
        (("add", "s", "products"), "what to crawl"),
        ((*ADD, URL, "--known", "a.example", "--every", "1d"), "what to crawl"),
        ((*ADD, URL), "either --every, or --cron"),
        ((*ADD, URL, "--every", "1d", "--cron", "@daily"), "either --every, or --cron"),
        ((*ADD, URL, "--every", "1d", "--zone", "UTC"), "either --every, or --cron"),
        ((*ADD, URL, "--every", "1 day"), "--every = '1 day' is invalid"),
        ((*ADD, URL, "--every", "0s"), "--every = '0s' is invalid: expected an interval from 1 s to 366 days"),
        ((*ADD, URL, "--cron", "0 25 * * *"), r"--cron = '0 25 \* \* \*' is invalid.*bad hour"),
        ((*ADD, URL, "--cron", "@daily", "--zone", "Berlin"), "--zone = 'Berlin' is invalid"),
        ((*ADD, URL, "--cron", "@daily", "--zone", "localtime"), "--zone = 'localtime' is invalid: expected a zone"),
        ((*ADD, URL, "--every", "1d", "--missed", "twice"), ": --missed = 'twice' is invalid"),
        ((*ADD, URL, "--every", "1d", "--overlap", "refuse"), ": --overlap = 'refuse' is invalid"),
        ((*ADD, URL, "--every", "1d", "--tier", "ftp"), ": --tier = 'ftp' is invalid"),
        (("add", "S:1", "products", URL, "--every", "1d"), "name = 'S:1' is invalid"),
        (("add", "s", "nobody", URL, "--every", "1d"), "there is no spider 'nobody'"),
        ((*ADD, "/nowhere/urls.txt", "--every", "1d"), "a file that can be read .No such file"),
        ((*ADD, "/etc", "--every", "1d"), "'/etc' is not a file"),
        ((*ADD, "/dev/zero", "--every", "1d"), "'/dev/zero' is not a file"),
        ((*ADD, URL, "urls.txt", "--every", "1d"), "URLs, or one file and nothing else"),
        ((*ADD, URL, "ftp://x/", "--every", "1d"), "argument: unknown scheme 'ftp'"),
        ((*ADD, "-", "--every", "1d"), "URLs, or one file and nothing else"),
        ((*ADD, URL, "--column", "url", "--every", "1d"), "--column = 'url' is invalid"),
        ((*ADD, URL, "--scope", "{", "--every", "1d"), "--scope = '{' is invalid"),
        ((*ADD, URL, "--scope", '{"dept": 3}', "--every", "1d"), "dept"),
        ((*ADD, URL, "--sitemap", URL, "--every", "1d"), "what to crawl"),
        ((*ADD, "--sitemap", "robots", "--every", "1d"), "what to crawl"),
        ((*ADD, "--sitemap", "robots", "a.example", "--every", "1d"), "site = 'a.example' is invalid"),
        ((*ADD, "--sitemap", "x://y", "--every", "1d"), "unknown scheme 'x'"),
        ((*ADD, "--sitemap", URL, "--include", "(", "--every", "1d"), "--include is not a pattern"),
        ((*ADD, URL, "--due", "9", "--every", "1d"), "what to crawl"),
        ((*ADD, URL, "--include", "x", "--every", "1d"), "choose pages of a --sitemap"),
        ((*ADD, URL, "--changed-only", "--every", "1d"), "choose pages of a --sitemap"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, tuple) else "",
)
def test_what_is_wrong_is_refused_in_a_line_and_nothing_is_added(
    schedule: InProcess, arguments: tuple[str, ...], words: str
) -> None:
    status, told, wrong = schedule(*arguments)
    assert (status, told) == (2, "")
    assert re.search(words, wrong)
    assert len(wrong.splitlines()) <= 2
    assert "No schedules" in schedule("list")[1]


def test_every_bad_line_of_a_file_is_named(schedule: InProcess, tmp_path: Path) -> None:
    path = tmp_path / "urls.txt"
    path.write_text('https://a.example/\nx://y\n\n{"url": 7}\nhttps://user:secret@/\n')
    status, told, wrong = schedule(*ADD, path, "--every", "1d")
    assert (status, told) == (2, "")
    assert [line.partition(": ")[0] for line in wrong.splitlines()][:3] == [f"{path}:{number}" for number in (2, 4, 5)]
    assert wrong.splitlines()[3].endswith("urls.txt cannot be pushed as it is (3 refused): nothing is added")
    assert "secret" not in wrong


def test_of_a_file_without_a_line_that_is_said(schedule: InProcess, tmp_path: Path) -> None:
    path = tmp_path / "urls.txt"
    path.write_text("\n")
    status, told, _ = schedule(*ADD, path, "--every", "1d")
    assert (status, told.splitlines()[0]) == (0, f"file {path} holds nothing yet: each tick pushes what it holds then")


def test_wrong_settings_of_the_service_are_refused_in_a_line(scrapy_run: ScrapyRunner, redis_url: str) -> None:
    for given, words in (
        ({"SERVE_PORT": 70_000}, "scrapy serve: SERVE_PORT = '70000' is invalid"),
        ({"REDIS_URL": "redis://127.0.0.1:1/0"}, "scrapy serve: Redis at 127.0.0.1:1"),
    ):
        done = scrapy_run.run("serve", *options({"REDIS_URL": redis_url} | given))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert done.stderr.startswith(words)
