"""Spiders that keep a queue or documents of their own are named, with what looks there, and no password is shown."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Spider
from scrapy.settings import Settings

from crawler.commands import early_settings, spider_stores
from crawler.startup.announcement import QUEUES


class Loader:
    """The spiders of a project."""

    def __init__(self, **custom: Any) -> None:
        self._custom = custom

    def list(self) -> list[str]:
        return list(self._custom)

    def load(self, name: str) -> type[Spider]:
        if isinstance(custom := self._custom[name], Exception):
            raise custom
        return type("Own", (Spider,), {"name": name, "custom_settings": custom})


def hints(monkeypatch: pytest.MonkeyPatch, loader: Loader, places: Any, **project: Any) -> list[str]:
    monkeypatch.setattr(early_settings, "spiders", lambda _: loader)
    settings = Settings({"ADDONS": {"crawler.addon.Shoal": 500}, "FRONTIER_ENABLED": True} | project)
    return list(spider_stores.hints(settings, places))


def test_each_spider_with_a_place_of_its_own_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = {"REDIS_URL": "redis://me:secret@r.example/1", "REDIS_PARAMS": {"password": "secret"}}
    loader = Loader(
        shop={"MONGODB_DATABASE": "shops", "FRONTIER_KEY": "shops"},
        broken=ValueError("oh"),
        plain={},
        apart=queue,
        old={"REDIS_HOST": "r.example"},
    )
    assert hints(monkeypatch, loader, spider_stores.STORES) == [
        "spider shop has a place of its own: -s MONGODB_DATABASE=shops looks there"
    ]
    assert hints(monkeypatch, loader, QUEUES) == [
        "spider apart has a place of its own: -s REDIS_URL=redis://***@r.example/1 -s REDIS_PARAMS=... looks there",
        "spider old has a place of its own: -s REDIS_HOST=r.example looks there",
        "spider shop has a place of its own: -s FRONTIER_KEY=shops looks there",
    ]


def test_a_project_without_spiders_that_can_be_loaded_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Loader):
        def list(self) -> list[str]:
            raise SyntaxError("oh")

    assert hints(monkeypatch, Broken(), QUEUES) == []


def test_what_the_command_line_says_is_no_place_of_the_spider(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"ADDONS": {"crawler.addon.Shoal": 500}, "FRONTIER_ENABLED": True, "FRONTIER_KEY": "shops"}
    settings = Settings(given, priority="cmdline")
    monkeypatch.setattr(early_settings, "spiders", lambda _: Loader(shop={"FRONTIER_KEY": "shops"}))
    assert list(spider_stores.hints(settings, QUEUES)) == []
