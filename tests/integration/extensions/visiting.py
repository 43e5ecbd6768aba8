"""Runs the `visit` spider as a process and reads what it says."""

from __future__ import annotations

import re
import subprocess
import urllib.error
import urllib.request
from collections.abc import Sequence

from tests.servers import ScrapyRunner

SPIDERS = "tests.integration.extensions.spiders"
ADDRESS = re.compile(r"Metrics and probes: (http://127\.0\.0\.1:\d+)/metrics")


def arguments(urls: Sequence[str], *settings: str) -> list[str]:
    """Arguments of `scrapy` for a crawl of *urls* with *settings* (NAME=VALUE)."""
    given = [
        f"SPIDER_MODULES={SPIDERS}",
        "ROBOTSTXT_OBEY=False",
        "DOWNLOAD_DELAY=0",
        "CONCURRENT_REQUESTS_PER_DOMAIN=8",
    ]
    return [
        "crawl",
        "visit",
        "-a",
        f"urls={' '.join(urls)}",
        *(part for one in (*given, *settings) for part in ("-s", one)),
    ]


def crawl(runner: ScrapyRunner, urls: Sequence[str], *settings: str) -> subprocess.CompletedProcess[str]:
    """Crawl to the end."""
    return runner.run(*arguments(urls, *settings))


def start(runner: ScrapyRunner, urls: Sequence[str], *settings: str) -> str:
    """Start crawling; returns the address of the metrics as soon as it is served."""
    process = runner.start(*arguments(urls, *settings))
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        if found := ADDRESS.search(line):
            return found[1]
        lines.append(line)
    raise AssertionError("".join(lines))


def get(url: str) -> tuple[int, str]:
    """Status and body."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
