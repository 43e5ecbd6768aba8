"""A feed that another worker writes, as a person is told of it."""

from __future__ import annotations

from pathlib import Path
from typing import Final, cast

import pytest
from scrapy.settings import Settings

from crawler.errors import ConfigError
from crawler.frontier.server.shards import Shards
from crawler.worker import feeds

FILE: Final = {"format": "json", "overwrite": True}
SHARDS: Final = cast("Shards", object())


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another worker has each feed."""

    async def claim(_: object, wanted: list[str], __: str) -> tuple[str, str]:
        return wanted[0], "elsewhere-7-abcd"

    monkeypatch.setattr("crawler.worker.feeds.feeds.claim", claim)


@pytest.mark.usefixtures("taken")
async def test_a_feed_that_was_lost_to_another_worker_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    claim = feeds.FeedClaim(SHARDS, Settings({"FEEDS": {"s3://bucket/items.json": FILE}}), "shop", "here-1-abcd")
    for _ in range(3):
        await claim.keep()
    (line,) = caplog.messages
    assert "This worker overwrites s3://bucket/items.json, and elsewhere-7-abcd does so by now" in line


@pytest.mark.usefixtures("taken")
async def test_a_file_that_another_worker_writes_is_named_as_it_is_on_disk(tmp_path: Path) -> None:
    file = tmp_path / "items.json"
    settings = Settings({"FEEDS": {str(file): FILE}})
    with pytest.raises(
        ConfigError, match=rf"^FEEDS \(-O\) = '{file}' is invalid: .*: elsewhere-7-abcd overwrites this"
    ):
        await feeds.claim(SHARDS, settings, "shop")
