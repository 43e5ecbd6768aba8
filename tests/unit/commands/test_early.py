"""What Scrapy reads first is refused in one line, by every command."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.commands import early
from crawler.errors import ConfigError


def check(name: str, value: object) -> None:
    early.check(Settings({name: value}))


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("LOG_LEVEL", ["NOPE", "", "info", "10", None], "one of NOTSET, DEBUG, INFO, "),
        ("LOG_FORMAT", ["%(asctime", 5], "a format such as"),
        ("LOG_ENCODING", ["nope", "", 5], "the name of an encoding such as utf-8"),
        ("LOG_FILE", ["/", "/dev/null/log"], "a file that can be written"),
        ("LOG_SHORT_NAMES", ["x"], "True or False"),
        ("LOG_ENABLED", ["maybe"], "True or False"),
        ("REACTOR_THREADPOOL_MAXSIZE", ["x", 0, 10_001], "an integer from 1 to 10000"),
        ("LOG_FORMATTER", ["nope", "scrapy.nope", "nope.Nope"], "the path of a class that can be imported"),
    ],
)
def test_what_is_invalid_is_named(name: str, values: list[object], words: str) -> None:
    for value in values:
        with pytest.raises(ConfigError, match=f"^{name} = .* is invalid: expected {words}"):
            check(name, value)


def test_what_is_valid_goes_on(tmp_path: Path) -> None:
    early.check(Settings())
    for name, value in {
        "LOG_LEVEL": 10,
        "LOG_FILE": str(tmp_path / "log"),
        "LOG_FORMAT": None,
        "LOG_ENCODING": None,
        "LOG_STDOUT": "1",
        "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
        "LOG_FORMATTER": Path,  # as a class
    }.items():
        check(name, value)
    assert (tmp_path / "log").read_bytes() == b""
