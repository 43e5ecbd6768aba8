"""What Scrapy reads first is refused in one line, by every command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy import Spider
from scrapy.settings import Settings

from crawler.commands import early_settings
from crawler.errors import ConfigError

ADDONS, MODULES = "ADDONS", "SPIDER_MODULES"


def check(name: str, value: object) -> None:
    early_settings.check(Settings({name: value}))


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        # Once uvicorn is loaded there is TRACE, too.
        ("LOG_LEVEL", ["NOPE", "", "info", "10", None, [], {}], "one of NOTSET, (TRACE, )?DEBUG, INFO, "),
        ("LOG_FORMAT", ["%(asctime", 5], "a format such as"),
        ("LOG_DATEFORMAT", [5, ["x"]], "a format such as"),
        ("LOG_ENCODING", ["nope", "", 5, "\0"], "the name of an encoding such as utf-8"),
        ("LOG_FILE", ["/", "/dev/null/log", 5.5, ["x"]], "a file that can be written"),
        ("LOG_SHORT_NAMES", ["x"], "True or False"),
        ("LOG_ENABLED", ["maybe"], "True or False"),
        ("REACTOR_THREADPOOL_MAXSIZE", ["x", 0, 1_001], "an integer from 1 to 1000"),
        ("LOG_VERSIONS", [5], "a list"),
        ("TWISTED_REACTOR_ENABLED", ["x", []], "True or False"),
        ("SPIDER_LOADER_CLASS", [None, ""], "the path of a class that can be imported"),
        ("ASYNCIO_EVENT_LOOP", ["", 0], "the path of a class that can be imported"),
        ("TWISTED_DNS_RESOLVER", ["nope", "", 5, ["x"]], "the path of a class that can be imported"),
        ("SPIDER_MODULES", [5, {"a": 1}], "a list, or names"),
        ("LOG_FORMATTER", ["nope", "scrapy.nope", "nope.Nope", ["x"], 5], "the path of a class that can be imported"),
    ],
)
def test_what_is_invalid_is_named(name: str, values: list[object], words: str) -> None:
    for value in values:
        with pytest.raises(ConfigError, match=f"^{name} = .* is invalid: expected {words}"):
            check(name, value)


def test_a_project_that_scrapy_cfg_does_not_have_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = a\nproduction = b\n")
    monkeypatch.chdir(tmp_path)
    words = r"^SCRAPY_PROJECT = 'produktion' is invalid: expected one of default, production \(scrapy.cfg\)$"
    with pytest.raises(ConfigError, match=words):
        check("PROJECT", "produktion")
    check("PROJECT", "production")
    early_settings.check(Settings({"PROJECT": "x", "SETTINGS_MODULE": "b"}))  # that module is named by its own variable


def test_what_is_valid_goes_on(tmp_path: Path) -> None:
    early_settings.check(Settings())
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


@pytest.mark.parametrize(
    ("addons", "words"),
    [
        ({"nope.Addon": 1}, r"ADDONS\['nope.Addon'\] = 1 is invalid: expected the path of a class .*'nope'"),
        ({"crawler.addon.Nope": 1}, r"ADDONS\['crawler.addon.Nope'\] = 1 .* any object named 'Nope'"),
        ({"crawler.addon.Shoal": "x"}, r"ADDONS\['crawler.addon.Shoal'\] = 'x' is invalid: expected a number"),
    ],
)
def test_an_addon_that_there_is_not_is_named(addons: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        check("ADDONS", addons)


def test_an_addon_may_be_switched_off() -> None:
    settings = Settings(dict.fromkeys(["ADDONS"], dict.fromkeys(["nope.Addon"])))
    early_settings.check(settings)
    assert dict(early_settings.with_addons(settings)["ADDONS"]) == {"nope.Addon": None}


@pytest.mark.parametrize("module", ["nope", "crawler.nope", "crawler.spiders,nope.spiders", ".spiders", "a b"])
def test_modules_of_spiders_that_there_are_not_are_named(module: str) -> None:
    with pytest.raises(ConfigError, match=r"^SPIDER_MODULES = "):
        early_settings.spiders(Settings({MODULES: module}))


def test_a_fault_inside_of_a_spiders_module_keeps_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "faulty_spiders.py").write_text("import there_is_no_such_module")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError):
        early_settings.spiders(Settings({MODULES: "faulty_spiders"}))


class Naming:
    """An add-on that names the modules of spiders."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: Settings) -> None:
        settings.set(MODULES, ["crawler.spiders"], "addon")


def test_addons_may_name_the_modules_of_spiders() -> None:
    settings = Settings({ADDONS: {Naming: 1}})
    assert "products" in early_settings.spiders(early_settings.with_addons(settings)).list()
    assert settings.getlist(MODULES) == []


@pytest.mark.parametrize(
    "custom", [{"LOG_LEVEL": "LOUD"}, {"LOG_FILE": "/dev/null/log"}, {"LOG_FORMAT": "%(nope)s"}, {"LOG_ENCODING": "x"}]
)
def test_a_spiders_own_log_is_checked_before_scrapy_opens_it(custom: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"^{next(iter(custom))} = "):
        early_settings.check_log_of(type("Own", (Spider,), {"name": "own", "custom_settings": custom}), Settings())


@pytest.mark.parametrize("custom", [None, {}, {"LOG_LEVEL": "DEBUG", "LOG_FORMAT": "%(message)s"}, ["refused later"]])
def test_a_log_of_its_own_is_a_spiders_right(custom: Any) -> None:
    early_settings.check_log_of(type("Own", (Spider,), {"name": "own", "custom_settings": custom}), Settings())
