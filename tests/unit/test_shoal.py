"""The entry points beside a Scrapy that is too old for the package: they must not break the environment's other
projects."""

from __future__ import annotations

import gc
import importlib
import tomllib
from argparse import ArgumentParser, Namespace

import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

import shoal
from tests.zygote import PROJECT_DIR


@pytest.fixture(autouse=True)
def old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shoal, "version_info", (2, 13, 3))


@pytest.mark.parametrize("name", ["crawl", "genspider"])
def test_beside_an_old_scrapy_its_commands_stay_its_own_and_say_so_where_the_addon_is_asked_for(name: str) -> None:
    command = shoal.load(name)
    assert isinstance(command, shoal.SCRAPYS[name])
    command.settings = Settings()
    command.add_options(parser := ArgumentParser(conflict_handler="resolve"))
    options = parser.parse_args([])
    command.settings = Settings({"ADDONS": {"crawler.addon.Shoal": 1}})
    with pytest.raises(UsageError, match=r"ADDONS names Shoal, but Shoal needs Scrapy 2\.19\.0, and .* `pip install"):
        command.process_options([], options)
    command.settings = Settings()
    command.process_options([], options)


def test_beside_an_old_scrapy_our_commands_say_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"Shoal needs Scrapy 2\.19\.0"):
        shoal.load("status").run([], Namespace())


def test_what_is_asked_for_is_what_is_pinned() -> None:
    project = tomllib.loads((PROJECT_DIR / "pyproject.toml").read_text())["project"]
    assert f"scrapy=={shoal.SCRAPY}" in project["dependencies"]


def test_nobody_looks_for_garbage_among_the_modules_of_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shoal, "version_info", (2, 19, 0))
    imported, collected = importlib.import_module, list[bool]()

    def watched(name: str) -> object:
        collected.append(gc.isenabled())
        return imported(name)

    monkeypatch.setattr(importlib, "import_module", watched)
    frozen = gc.get_freeze_count()
    made = [[each] for each in range(1_000)]

    shoal.load("status")

    assert collected == [True, False]  # whether the package is ours, and the command
    assert gc.isenabled()
    assert gc.get_freeze_count() >= frozen + len(made)
