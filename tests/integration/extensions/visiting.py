"""Runs spiders of spiders.py as processes and reads what they say."""

from __future__ import annotations

import re
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Sequence

from prometheus_client.parser import text_string_to_metric_families

from tests.servers import ScrapyRunner
from tests.zygote import Forked

SPIDERS = "tests.integration.extensions.spiders"
ADDRESS = re.compile(r"Metrics and probes: (http://127\.0\.0\.1:\d+)/metrics")


def arguments(urls: Sequence[str], *settings: str, spider: str = "visit") -> list[str]:
    """Arguments of `scrapy` for a crawl of *urls* with *settings* (NAME=VALUE)."""
    given = [
        f"SPIDER_MODULES={SPIDERS}",
        "ROBOTSTXT_OBEY=False",
        "DOWNLOAD_DELAY=0",
        "CONCURRENT_REQUESTS_PER_DOMAIN=8",
        "SHOAL_STORE=False",
        f"FRONTIER_KEY=test-{uuid.uuid4().hex}",
    ]
    return [
        "crawl",
        spider,
        "-a",
        f"urls={' '.join(urls)}",
        *(part for one in (*given, *settings) for part in ("-s", one)),
    ]


def crawl(runner: ScrapyRunner, urls: Sequence[str], *settings: str) -> subprocess.CompletedProcess[str]:
    """Crawl to the end."""
    return runner.run(*arguments(urls, *settings))


def start(runner: ScrapyRunner, urls: Sequence[str], *settings: str, spider: str = "visit") -> str:
    """Start crawling; returns the address of the metrics as soon as it is served."""
    return logged(runner.fork(*arguments(urls, *settings, spider=spider)), ADDRESS)[1]


def logged(process: Forked, words: re.Pattern[str]) -> re.Match[str]:
    """Where *words* are in its log, as soon as they are."""
    while (found := words.search(process.log)) is None:
        assert process.poll() is None, process.log
        time.sleep(0.02)
    return found


def get(url: str) -> tuple[int, str]:
    """Status and body."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def until(url: str, status: int, words: str = "") -> str:
    """The body as soon as *url* answers with *status* and a body that matches *words*, if given."""
    deadline = time.monotonic() + 60
    while (answer := get(url))[0] != status or (words and not re.fullmatch(words, answer[1])):
        assert time.monotonic() < deadline, answer
        time.sleep(0.05)
    return answer[1]


Samples = dict[tuple[str, tuple[str, ...]], float]


def samples(address: str) -> Samples:
    """All metrics, by name and values of labels."""
    status, text = get(f"{address}/metrics")
    assert status == 200
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def eventually(address: str, condition: Callable[[Samples], bool]) -> Samples:
    """The metrics as soon as they fulfil *condition*."""
    deadline = time.monotonic() + 60
    while not condition(found := samples(address)):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found
