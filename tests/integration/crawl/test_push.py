"""`scrapy push`: every good line is pushed, every bad one is named, and nothing ends in a traceback."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request

from crawler.frontier.messages import Lease
from crawler.routing import codec
from crawler.spiders.products import ProductsSpider
from tests.crawling import Fleet, count, ended, open_frontier, options
from tests.sites import Page, Site

ANY_PACE = {"DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 100, "AUTOTHROTTLE_ENABLED": False}


@dataclass(frozen=True)
class Pushed:
    """What the command answered."""

    status: int
    output: str
    complaints: list[str]

    @property
    def summary(self) -> str:
        """What was pushed, without the run that it belongs to."""
        return re.sub(r" \(run .*\)$", "", self.output)

    @property
    def run(self) -> str:
        found = re.search(r"\(run (\d{8}-\d+)", self.output)
        assert found is not None, self.output
        return found[1]


@dataclass(frozen=True)
class Pusher:
    """Runs `scrapy push` on the frontier of one test."""

    fleet: Fleet

    def __call__(self, *args: str | Path, spider: str = "products", text: str = "", **settings: Any) -> Pushed:
        given = options(ANY_PACE | {"FRONTIER_KEY": self.fleet.key} | settings)
        result = self.fleet.runner.run("push", spider, *map(str, args), *given, input=text)
        assert "Traceback" not in result.stderr
        return Pushed(result.returncode, result.stdout.strip(), result.stderr.splitlines())

    async def queued(self, *streams: str) -> list[tuple[Request, Lease]]:
        """What workers would be handed out, in that order."""
        async with open_frontier(self.fleet.redis_url, self.fleet.key) as frontier:
            leases = (await frontier.lease(streams or ("products",), 100, worker="test")).leases
        return [(codec.decode(lease.body, ProductsSpider()), lease) for lease in leases]

    async def urls(self) -> list[str]:
        return [request.url for request, _ in await self.queued()]


@pytest.fixture
def push(fleet: Fleet) -> Pusher:
    return Pusher(fleet)


def lines(path: Path, *texts: str) -> Path:
    path.write_text("\n".join(texts))
    return path


async def test_arguments_files_and_standard_input_in_one_go(push: Pusher, tmp_path: Path) -> None:
    first = lines(tmp_path / "first.txt", "http://a.example/1", "", "  http://a.example/2  ")
    second = lines(tmp_path / "second.jsonl", json.dumps({"url": "http://a.example/3"}))
    pushed = push("http://a.example/0", first, second, "-", text="http://a.example/4\nhttp://a.example/5")
    assert (pushed.status, pushed.complaints) == (0, [])
    assert pushed.summary == "6 pushed to products"
    assert await push.urls() == [f"http://a.example/{number}" for number in range(6)]


async def test_a_message_keeps_all_its_keys(push: Pusher) -> None:
    later = time.time() + 3600
    whole = {
        "url": "http://a.example/form",
        "method": "POST",
        "headers": {"X-Shop": "1"},
        "body": "q=1",
        "meta": {"category": "tools"},
        "callback": "parse",
        "priority": 7,
        "dont_filter": True,
        "country": "de",
        "proxy_pool": "homes",
        "tier": "browser",
    }
    pushed = push(json.dumps(whole), json.dumps(whole), json.dumps({"url": "http://a.example/", "not_before": later}))
    assert pushed.summary == "3 pushed to products"
    (request, lease), (copy, _) = await push.queued("products", "products:browser")
    assert (request.url, request.method, request.body) == (whole["url"], "POST", b"q=1")
    assert request.headers["X-Shop"] == b"1"
    assert request.meta == {"category": "tools", "country": "de", "proxy_pool": "homes", "min_tier": "browser"}
    assert request.callback.__name__ == "parse"  # type: ignore[union-attr]
    assert (request.priority, request.dont_filter) == (7, True)
    assert (lease.priority, lease.stream) == (7, "products:browser")
    assert copy.url == request.url
    assert (await push.fleet.left("products")).states == {"delayed": 1, "leased": 2}


async def test_priority_is_for_lines_without_one_and_higher_comes_first(push: Pusher) -> None:
    own = json.dumps({"url": "http://a.example/own", "priority": 5})
    assert push("http://a.example/low", "--priority", "-3").status == 0
    assert push("http://a.example/high", own, "--priority", "9").status == 0
    assert [(request.url[17:], lease.priority) for request, lease in await push.queued()] == [
        ("high", 9),
        ("own", 5),
        ("low", -3),
    ]


def test_what_is_known_is_counted(push: Pusher) -> None:
    push("http://a.example/", "http://a.example/2")
    again = push("http://a.example/?utm_source=x", "http://a.example/2#top", "http://a.example/3")
    assert again.status == 0
    assert again.summary == "1 pushed to products, 2 known already (--recrawl crawls them again)"


async def test_recrawl_opens_a_generation_in_which_all_is_new(push: Pusher, fleet: Fleet) -> None:
    """Twice over the same two linked pages; the second crawl follows the link again."""
    with Site({"/": Page("<a href=/child>.</a>"), "/child": Page()}) as site:
        for crawl, summary in enumerate(["1 pushed to walk", "0 pushed to walk, 1 known", "1 pushed to walk"]):
            options = ["--recrawl"] if crawl == 2 else []
            pushed = push(site.url("/"), *options, spider="walk", SPIDER_MODULES="tests.integration.crawl.spiders")
            assert pushed.summary.startswith(summary)
            if crawl != 1:
                status, log = await ended(fleet.start(DOWNLOAD_DELAY=0))
                assert (status, count(log, "frontier/acked")) == (0, 2)
    assert site.requested == ["/", "/child"] * 2
    assert (await fleet.left()).states == {"done": 4}


BAD_LINES: Sequence[tuple[str, str]] = [
    ("ftp://a.example/", "unknown scheme 'ftp': expected http or https"),
    ("example.com", "no scheme: expected http:// or https:// before 'example.com'"),
    ("http:///path", "URL without a host"),
    ("http://a.example/" + "x" * 4096, "URL has 4113 characters, more than the 4096 allowed"),
    ("http://a.example/a b", "URL with white space"),
    ("http://[::1/", "not a URL"),
    ("http://" + "ü" * 70 + ".example/", "no name of a host"),
    ("{broken", "not JSON"),
    ("[1]", "no scheme"),
    ('{"priority": 1}', "no 'url'"),
    ('{"url": 5}', "url = 5 is invalid: expected a non-empty string"),
    ('{"url": "http://a.example/", "prio": 1}', "unknown key 'prio': expected one of url, method"),
    ('{"url": "http://a.example/", "method": "BREW"}', "method = 'BREW' is invalid: expected one of GET, POST"),
    ('{"url": "http://a.example/", "headers": ["a"]}', "headers = "),
    ('{"url": "http://a.example/", "headers": {"a": "b\\r\\nc: d"}}', "strings without line breaks"),
    ('{"url": "http://a.example/", "body": 1}', "body = 1 is invalid: expected a string of at most"),
    ('{"url": "http://a.example/", "meta": {"proxy": "http://p"}}', "meta = 'proxy' is invalid"),
    (
        '{"url": "http://a.example/", "callback": "missing"}',
        "callback 'missing' is not a callback of spider 'products'",
    ),
    ('{"url": "http://a.example/", "priority": 1001}', "an integer from -1000 to 1000"),
    ('{"url": "http://a.example/", "dont_filter": "yes"}', "dont_filter = 'yes' is invalid: expected true or"),
    ('{"url": "http://a.example/", "not_before": "soon"}', "Unix seconds, or an ISO 8601 time with a time zone"),
    (
        '{"url": "http://a.example/", "tier": "rocket"}',
        "tier = 'rocket' is invalid: expected one of http, browser, api",
    ),
    ("{" + "x" * 262_144, "line has 262145 characters, more than the 262144 allowed"),
]


async def test_every_bad_line_is_named_and_the_good_ones_are_pushed(push: Pusher, tmp_path: Path) -> None:
    texts = [text for bad, _ in BAD_LINES for text in (bad, f"http://a.example/{len(bad)}")]
    path = lines(tmp_path / "urls.txt", *texts)
    pushed = push(path)
    good = sorted(set(texts[1::2]))
    assert pushed.status == 2
    assert pushed.summary.startswith(f"{len(good)} pushed to products")
    assert pushed.summary.endswith(f"{len(BAD_LINES)} refused")
    for place, ((_, reason), complaint) in enumerate(zip(BAD_LINES, pushed.complaints, strict=True)):
        assert complaint.startswith(f"{path}:{2 * place + 1}: ")
        assert reason in complaint
        assert len(complaint) < 500
    assert sorted(await push.urls()) == good


async def test_half_a_character_or_a_missing_file_costs_nothing_else(push: Pusher, tmp_path: Path) -> None:
    texts = [
        "http://a.example/1",
        '{"url": "http://a.example/\\ud800"}',
        '{"url": "http://a.example/2", "meta": {"a": "\\udc00"}}',
    ]
    path = lines(tmp_path / "urls.txt", *texts, "http://a.example/3")
    pushed = push(tmp_path / "missing.txt", path, "http://a.example/4")
    assert (pushed.status, pushed.summary) == (2, "3 pushed to products, 3 refused")
    assert "missing.txt" in pushed.complaints[0]
    assert [complaint.partition(": ")[0] for complaint in pushed.complaints[1:]] == [f"{path}:2", f"{path}:3"]
    assert sorted(await push.urls()) == [f"http://a.example/{number}" for number in (1, 3, 4)]


async def test_bytes_that_are_no_text_are_named_too(push: Pusher, tmp_path: Path) -> None:
    path = tmp_path / "urls.txt"
    path.write_bytes(b"http://a.example/\xff\nhttp://a.example/good\n")
    pushed = push(path)
    assert (pushed.status, len(pushed.complaints)) == (2, 1)
    assert pushed.complaints[0].startswith(f"{path}:1: ")
    assert await push.urls() == ["http://a.example/good"]


def test_standard_input_and_arguments_have_names(push: Pusher) -> None:
    assert push("-", text="http://a.example/\nnonsense\n").complaints == [
        "standard input:2: no scheme: expected http:// or https:// before 'nonsense'"
    ]
    assert push("ftp://a.example/").complaints == [
        "argument: unknown scheme 'ftp': expected http or https: 'ftp://a.example/'"
    ]


def test_a_full_frontier_refuses_with_count_and_reason(push: Pusher, tmp_path: Path) -> None:
    urls = [f"http://a.example/{number}" for number in range(5)]
    pushed = push(lines(tmp_path / "urls.txt", *urls, ""), FRONTIER_QUEUE_LIMIT=3, FRONTIER_QUEUE_HIGH_WATER=3)
    assert (pushed.status, pushed.summary) == (2, "3 pushed to products, 2 refused")
    why = "it holds as many requests as FRONTIER_QUEUE_LIMIT allows"
    assert pushed.complaints == [f"2 messages: the frontier takes no more (refused/full): {why}"]


def test_arguments_that_are_left_have_numbers(push: Pusher) -> None:
    urls = [f"http://a.example/{number}" for number in range(40)]
    pushed = push(*urls, FRONTIER_QUEUE_LIMIT=3, FRONTIER_QUEUE_HIGH_WATER=3)
    assert pushed.status == 2
    [stopped] = re.findall(r"^stopped at argument (\d+): push the same again when there is room", pushed.complaints[0])
    assert 5 <= int(stopped) < 40
    assert f"what follows argument {int(stopped) - 1} is left" in pushed.summary


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["products"], "name a spider and what to push: URLs, files, or - for standard input"),
        (["nope", "http://a.example/"], "there is no spider 'nope', `scrapy list` shows them"),
        (
            ["products", "missing.txt"],
            "nor a file that can be read (No such file",
        ),
        (
            ["products", "/"],
            "nor a file that can be read (Is a directory)",
        ),
        (["products", "http://a.example/", "--priority", "1001"], "--priority = '1001' is invalid"),
        (
            ["products", "http://a.example/", "--priority", "high"],
            "--priority = 'high' is invalid: expected an integer",
        ),
        (["products", "http://a.example/", "-s", "FRONTIER_SHARDS=0"], "FRONTIER_SHARDS = '0' is invalid: expected"),
        (["products", "http://a.example/", "-s", "DOWNLOAD_DELAY=-1"], "DOWNLOAD_DELAY = '-1' is invalid: expected"),
        (["products", "http://a.example/", "-s", "REDIS_URL=mysql://x"], "REDIS_URL = 'mysql://...' is invalid"),
        (["products", "http://a.example/", "-s", "REDIS_URL=redis://127.0.0.1:{port}"], "does not answer"),
        (["products", "http://a.example/", "-s", "DOMAINS_FILE={broken}"], "{broken}"),
        (
            ["products", "http://a.example/", "-s", "DOMAINS_FILE=missing.toml"],
            "DOMAINS_FILE = 'missing.toml' is invalid",
        ),
    ],
)
def test_a_mistake_in_the_command_is_one_line(
    fleet: Fleet, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    broken = lines(tmp_path / "domains.toml", '["shop.example"]', 'delay_seconds = "soon"')
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        places = {"port": closed.getsockname()[1], "broken": broken}
        result = fleet.runner.run("push", *(argument.format(**places) for argument in arguments))
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert complaint.format(**places) in result.stderr.splitlines()[-1]


async def test_a_push_is_a_run(push: Pusher, fleet: Fleet) -> None:
    named = push("http://a.example/1", "http://a.example/2", "--name", "nightly")
    assert re.fullmatch(r"2 pushed to products \(run \d{8}-1\)", named.output)
    refused = push("http://a.example/3", "--name", "nightly")
    assert (refused.status, refused.output) == (2, "")
    assert f"run {named.run} of products is also named 'nightly' and is not over (sealed)" in refused.complaints[-1]
    skipped = push("http://a.example/3", "--name", "nightly", "--overlap", "skip")
    assert (skipped.status, skipped.output.split(":")[0]) == (0, "nothing pushed")
    beside = push("http://a.example/3", "--name", "nightly", "--overlap", "allow")
    again = push("http://a.example/1", "http://a.example/4", "--run", named.run)
    assert (again.summary, again.run) == (
        "1 pushed to products, 1 known already (--recrawl crawls them again)",
        named.run,
    )
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        found = [(run.id, run.name, run.state, run.counts.accepted) for run in await frontier.runs.find()]
    assert found == [(beside.run, "nightly", "sealed", 1), (named.run, "nightly", "sealed", 3)]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--run", "7"), "'7' is not a run: expected an id like 20261122-1, `scrapy runs` shows them"),
        (("--run", "20261122-1"), "there is no run 20261122-1: `scrapy runs` shows them"),
        (("--run", "20261122-1", "--recrawl"), "--run continues a run as it was opened: leave out --name, --recrawl"),
        (("--name", "x" * 256), "of a run: expected at most 255 bytes that can be printed"),
        (("--overlap", "never"), "--overlap = 'never' is invalid: expected one of refuse"),
    ],
)
def test_a_wrong_run_is_one_line(push: Pusher, options: tuple[str, ...], complaint: str) -> None:
    pushed = push("http://a.example/1", *options)
    assert (pushed.status, pushed.output, len(pushed.complaints)) == (2, "", 1)
    assert complaint in pushed.complaints[0]
