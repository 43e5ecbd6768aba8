"""Which keys of start URLs `scrapy serve` looks at."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Spider
from scrapy.settings import Settings
from scrapy_redis.spiders import RedisSpider

from crawler.commands import early_settings
from crawler.commands.serve import Command


class Loader:
    def list(self) -> list[str]:
        return ["fed", "alone", "plain"]

    def load(self, name: str) -> type[Spider]:
        made: dict[str, Any] = {"name": name, "custom_settings": {"FRONTIER_ENABLED": name != "alone"}}
        return type(name, (Spider if name == "plain" else RedisSpider,), made)


def test_start_urls_of_a_spider_outside_the_fleet_wait_for_no_worker_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """They paged somebody: such a spider takes its next ones only once it is done with the last."""
    monkeypatch.setattr(early_settings, "spiders", lambda _: Loader())
    command = Command()
    command.settings = Settings({"REDIS_START_URLS_KEY": "%(name)s:start_urls"})
    assert command._start_keys() == {"fed": "fed:start_urls", "alone": "", "plain": ""}
