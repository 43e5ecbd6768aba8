"""A feed that another worker writes, as a person is told of it."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from scrapy.settings import Settings

from crawler.errors import ConfigError
from crawler.frontier.server.shards import Shards
from crawler.worker import feeds


async def test_a_file_that_another_worker_writes_is_named_as_it_is_on_disk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def taken(_: object, wanted: list[str], __: str) -> tuple[str, str]:
        return wanted[0], "elsewhere-7-abcd"

    monkeypatch.setattr("crawler.worker.feeds.feeds.claim", taken)
    file, shards = tmp_path / "items.json", cast("Shards", object())
    settings = Settings({"FEEDS": {str(file): {"format": "json", "overwrite": True}}})
    with pytest.raises(
        ConfigError, match=rf"^FEEDS \(-O\) = '{file}' is invalid: .*: elsewhere-7-abcd overwrites this"
    ):
        await feeds.claim(shards, settings, "shop")
