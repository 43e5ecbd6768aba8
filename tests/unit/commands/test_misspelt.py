"""A misspelt setting is named, one of somebody else's is not."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawler.commands.misspelt import hints


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("CONCURENT_REQUESTS", "CONCURRENT_REQUESTS"),
        ("DOWNLOAD_DELEY", "DOWNLOAD_DELAY"),
        ("log_level", "LOG_LEVEL"),
        ("MONGODB_URL", "MONGODB_URI"),
        ("FRONTIER_LEASE_SECOND", "FRONTIER_LEASE_SECONDS"),
    ],
)
def test_what_is_misspelt_is_named_with_what_was_meant(name: str, meant: str) -> None:
    assert list(hints(Settings(), [name])) == [f"there is no setting {name}, did you mean {meant}?"]


def test_what_is_known_or_like_nothing_is_let_pass() -> None:
    of_the_project = "LOG_LEVELS"
    settings = Settings({of_the_project: 1})
    assert list(hints(settings, ["LOG_LEVEL", of_the_project, "FRONTIER_KEY", "MYSQL_PORT"])) == []
