"""What the add-on makes of the settings of a project and of a spider."""

from __future__ import annotations

import importlib
import json
import logging
import sys
import warnings
from pathlib import Path
from typing import Any, ClassVar

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.settings import BaseSettings, Settings, default_settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object
from scrapy.utils.reactor import is_reactor_installed

from crawler import components, defaults
from crawler.addon import Shoal, check_dicts, complete, completed, require_addon
from crawler.components import ADDON
from crawler.errors import ConfigError, ShoalError
from crawler.extensions.reports import ReportsExtension
from crawler.middlewares.downloader import retry
from crawler.middlewares.spider.lineage import LineageMiddleware
from crawler.pipelines.mongodb import MongoPipeline
from crawler.replay.__main__ import DIFFERENCES, RESTATE, prepare
from crawler.startup import moved
from crawler.startup.announcement import announcement
from crawler.startup.wiring import check_addons, require_components, require_wired
from crawler.worker.scheduler import Scheduler

TABLES = {
    "DOWNLOADER_MIDDLEWARES": components.DOWNLOADER_MIDDLEWARES,
    "SPIDER_MIDDLEWARES": components.SPIDER_MIDDLEWARES,
    "EXTENSIONS": components.EXTENSIONS,
    "ITEM_PIPELINES": defaults.FRONTIER_ITEM_PIPELINES,
}
RETRY = "crawler.middlewares.downloader.retry.RetryMiddleware"
THEIRS = "tests.integration.extensions.spiders.LogPipeline"


class Own(Scheduler):
    """A user's scheduler that subclasses ours."""


class OwnStore(MongoPipeline):
    """A user's pipeline that subclasses ours."""


class OwnRetry(retry.RetryMiddleware):
    """A user's middleware that subclasses ours."""


class OwnLineage(LineageMiddleware):
    """And another one."""


class OwnReports(ReportsExtension):
    """An extension."""


class Failing:
    """Somebody's add-on that needs a package that is not there."""

    def update_settings(self, settings: Settings) -> None:
        importlib.import_module("no_such_package")


PACE = {"DOWNLOAD_DELAY": 1, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, "ROBOTSTXT_OBEY": True}  # as `startproject` writes


def project(**changed: Any) -> Settings:
    """A project whose one line is the add-on, as `scrapy crawl` sees it."""
    settings = Settings({"ADDONS": {ADDON: 500}} | changed)
    settings.set("FRONTIER_ENABLED", True, priority="command")
    return settings


def of(custom: dict[str, Any], **changed: Any) -> Settings:
    """The settings of a spider with these custom_settings."""
    spider = type("Somebodys", (Spider,), {"name": "somebodys", "custom_settings": custom})
    return completed(project(**changed), spider).settings


def enabled(settings: Settings, name: str) -> list[Any]:
    """The components in use, in their order."""
    return build_component_list(settings.get_component_priority_dict_with_base(name))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("given", [{THEIRS: 543}, "{}", json.dumps({THEIRS: 543})])
def test_dicts_of_components_are_completed_whoever_sets_them(name: str, given: Any) -> None:
    for settings in (of({name: given}), of({}, **{name: given}), of({name: {}}, **{name: given})):
        found = settings.getdict(name)
        assert TABLES[name].items() <= found.items()
    assert (THEIRS in of({name: given}).getdict(name)) is (given != "{}")


def test_ours_stand_in_for_scrapys_and_stay_out_where_those_are_off() -> None:
    retry = components.STANDS_FOR["crawler.middlewares.downloader.retry.RetryMiddleware"]
    used = enabled(of({"DOWNLOADER_MIDDLEWARES": {RetryMiddleware: 300}}), "DOWNLOADER_MIDDLEWARES")
    assert "crawler.middlewares.downloader.retry.RetryMiddleware" in used
    assert not {retry, RetryMiddleware} & set(used)
    for scrapys in (retry, RetryMiddleware):
        used = enabled(of({"DOWNLOADER_MIDDLEWARES": {scrapys: None, THEIRS: 550}}), "DOWNLOADER_MIDDLEWARES")
        assert THEIRS in used
        assert not {"crawler.middlewares.downloader.retry.RetryMiddleware", retry, RetryMiddleware} & set(used)


def test_a_component_given_as_a_class_is_not_added_again() -> None:
    """It is found by its path, as by `scrapy reparse --dry-run`, which leaves the store out."""
    found = of({"SPIDER_MIDDLEWARES": {LineageMiddleware: 7}, "ITEM_PIPELINES": {MongoPipeline: 7}})
    middlewares, pipelines = found.getdict("SPIDER_MIDDLEWARES"), found.getdict("ITEM_PIPELINES")
    assert (middlewares[components.LINEAGE], pipelines[components.MONGODB]) == (7, 7)
    assert {LineageMiddleware, MongoPipeline}.isdisjoint(middlewares | pipelines)


@pytest.mark.parametrize("key", [OwnStore, f"{__name__}.OwnStore"])
@pytest.mark.parametrize("beside", [{}, {components.MONGODB: None}, {MongoPipeline: None}])
def test_a_pipeline_that_derives_from_ours_takes_its_place(key: Any, beside: dict[Any, Any]) -> None:
    """Beside it, ours would store each item a second time."""
    for settings in (of({"ITEM_PIPELINES": {key: 700} | beside}), of({}, ITEM_PIPELINES={key: 700} | beside)):
        assert enabled(settings, "ITEM_PIPELINES")[-1] == key
        assert components.storing(settings) == [key]
        require_wired(settings)
        once = dict(settings.getdict("ITEM_PIPELINES"))
        complete(settings)
        assert settings.getdict("ITEM_PIPELINES") == once


def test_a_middleware_or_extension_that_derives_from_ours_takes_its_place_and_that_of_scrapys() -> None:
    used = enabled(of({"DOWNLOADER_MIDDLEWARES": {OwnRetry: 540}}), "DOWNLOADER_MIDDLEWARES")
    assert OwnRetry in used
    assert not {RETRY, components.STANDS_FOR[RETRY]} & set(used)
    used = enabled(of({"SPIDER_MIDDLEWARES": {OwnLineage: 9}}), "SPIDER_MIDDLEWARES")
    assert OwnLineage in used
    assert components.LINEAGE not in used
    used = enabled(of({"EXTENSIONS": {OwnReports: 1}}), "EXTENSIONS")
    assert OwnReports in used
    assert "crawler.extensions.reports.ReportsExtension" not in used


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_reparse_stores_once_too(dry_run: bool) -> None:
    settings = of({"ITEM_PIPELINES": {OwnStore: 700}})
    prepare(settings, {"dry_run": dry_run, "selection": {}})
    used = enabled(settings, "ITEM_PIPELINES")
    assert not {OwnStore, components.MONGODB} & set(used)
    assert used[-1] == (DIFFERENCES if dry_run else RESTATE)


def test_one_that_is_switched_off_takes_no_place_and_two_that_are_asked_for_both_run() -> None:
    assert components.storing(of({"ITEM_PIPELINES": {OwnStore: None}})) == [components.MONGODB]
    both = {OwnStore: 700, components.MONGODB: 800}
    assert components.storing(of({"ITEM_PIPELINES": both})) == list(both)


def test_ours_stays_while_those_of_the_project_cannot_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands do not import them: one may expect Scrapy's event loop."""
    monkeypatch.setitem(sys.modules, "scrapy.cmdline", sys)
    settings = of({"ITEM_PIPELINES": {"somewhere.OwnStore": 700, components.MONGODB: None}})
    assert components.storing(settings) == [components.MONGODB]


def test_a_script_has_its_components_imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delitem(sys.modules, "scrapy.cmdline", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "pipes_of_a_script.py").write_text(
        "from crawler.pipelines.mongodb import MongoPipeline\nclass Own(MongoPipeline): ...\n"
    )
    early = project(ITEM_PIPELINES={"pipes_of_a_script.Own": 700})
    early["TWISTED_REACTOR_ENABLED"] = not is_reactor_installed()
    complete(early)
    assert ("pipes_of_a_script" in sys.modules) is is_reactor_installed(), "a reactor is on its way"
    pipelines = {"pipes_of_a_script.Own": 700, "not_there.Other": 1}
    settings = of({"ITEM_PIPELINES": pipelines}, TWISTED_REACTOR_ENABLED=False)
    assert components.storing(settings) == ["pipes_of_a_script.Own"]


def test_none_of_our_components_derives_from_another() -> None:
    """Else one would take the other's place."""
    paths = [path for table in TABLES.values() for path in table]
    kinds = {path: load_object(path) for path in paths}
    assert not [(one, path) for one in kinds.values() for path in paths if components.derives(one, path)]
    assert {path: components.path_of(kind) for path, kind in kinds.items()} == {path: path for path in paths}


@pytest.mark.parametrize("key", [RetryMiddleware, components.STANDS_FOR[RETRY]])
@pytest.mark.parametrize(("place", "told"), [(300, True), (550, False)])
def test_another_place_of_scrapys_is_said_to_have_no_effect(
    key: Any, place: int, told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    complete(settings := project(DOWNLOADER_MIDDLEWARES={key: place}))
    words = (
        f"DOWNLOADER_MIDDLEWARES['{components.STANDS_FOR[RETRY]}'] = 300 has no effect: {RETRY} "
        "stands for it, at 550; give that one the place to move it"
    )
    assert [one.getMessage() for one in caplog.records if one.levelname == "WARNING"] == [words] * told
    complete(settings)
    assert len([one for one in caplog.records if one.levelname == "WARNING"]) == told


@pytest.mark.parametrize("path", sorted(components.REQUIRED))
def test_a_required_component_that_is_switched_off_is_refused_by_name(path: str) -> None:
    name = next(name for name, table in TABLES.items() if path in table)
    with pytest.raises(ConfigError, match=rf"{name}\['{path}'\] = None"):
        of({name: {path: None}})


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("place", ["first", [1], {}])
def test_a_place_that_is_no_number_is_refused_by_name(name: str, place: Any) -> None:
    with pytest.raises(ConfigError, match=rf"{name}\['{THEIRS}'\] = .* a number"):
        of({name: {THEIRS: place}})


def test_what_is_neither_true_nor_false_is_refused_by_name() -> None:
    settings = project(FRONTIER_ENABLED="maybe")
    Shoal.update_pre_crawler_settings(settings)
    with pytest.raises(ConfigError, match="FRONTIER_ENABLED = 'maybe'"):
        complete(settings)


def test_others_may_be_switched_off() -> None:
    path = "crawler.extensions.metrics.MetricsExtension"
    assert path not in enabled(of({"EXTENSIONS": {path: None}}), "EXTENSIONS")


def test_how_a_page_ends_is_seen_nearer_to_the_engine_than_by_any_other() -> None:
    settings = of({"SPIDER_MIDDLEWARES": {THEIRS: 3}})
    assert enabled(settings, "SPIDER_MIDDLEWARES")[0] == components.LINEAGE
    once = dict(settings.getdict("SPIDER_MIDDLEWARES"))
    complete(settings)
    assert settings.getdict("SPIDER_MIDDLEWARES") == once


def test_an_old_spider_is_started_nearer_to_it_than_any_other() -> None:
    assert enabled(of({"SPIDER_MIDDLEWARES": {THEIRS: 2_000}}), "SPIDER_MIDDLEWARES")[-1] == components.OLD_START


def test_an_add_on_of_others_that_fails_is_named_with_its_line() -> None:
    with pytest.raises(
        ShoalError, match=r"ModuleNotFoundError: No module named 'no_such_package' \(.*importlib.*:\d+\)"
    ):
        of({}, ADDONS={ADDON: 500, Failing: 600})


def test_mongodb_stands_behind_all_pipelines_of_the_project() -> None:
    assert enabled(of({"ITEM_PIPELINES": {THEIRS: 2_000}}), "ITEM_PIPELINES")[-1] == components.MONGODB


def test_without_a_store_the_projects_own_pipelines_are_all_there_are() -> None:
    settings = of({"ITEM_PIPELINES": {THEIRS: 1}}, SHOAL_STORE=False)
    assert enabled(settings, "ITEM_PIPELINES") == [THEIRS]
    for name in ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES"):
        assert not components.STORING & set(enabled(settings, name))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SCHEDULER", "scrapy_redis.scheduler.Scheduler"),
        ("SCHEDULER", "scrapy.core.scheduler.Scheduler"),
        ("DUPEFILTER_CLASS", "scrapy_redis.dupefilter.RFPDupeFilter"),
        ("SCHEDULER_QUEUE_CLASS", "scrapy_redis.queue.LifoQueue"),
        ("DOWNLOADER", "scrapy.core.downloader.Downloader"),
        ("ITEM_PROCESSOR", "scrapy.pipelines.ItemPipelineManager"),
    ],
)
def test_scrapys_and_scrapy_redis_own_are_replaced_and_it_is_said(
    name: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    for settings in (project(**{name: value}), project()):
        settings.set(name, value, priority="cmdline")
        complete(settings)
        assert settings[name] == components.SCALARS[name]
        assert f"{name} = {value!r} is replaced by {components.SCALARS[name]}" in caplog.text


def test_a_filter_that_lets_all_pass_is_said_to_do_so_no_more(caplog: pytest.LogCaptureFixture) -> None:
    complete(project(DUPEFILTER_CLASS="scrapy.dupefilters.BaseDupeFilter"))
    assert [one.levelname for one in caplog.records] == ["WARNING"]
    assert "known pages are not crawled again, but for requests with dont_filter" in caplog.text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CONCURRENT_REQUESTS_PER_IP", 4),
        ("DOWNLOAD_DELAY_JITTER", 0.3),
        ("DOWNLOADER_CLIENTCONTEXTFACTORY", "scrapy.core.downloader.contextfactory.BrowserLikeContextFactory"),
        ("DOWNLOADER_CLIENT_TLS_METHOD", "TLSv1.2"),
        ("RANDOMIZE_DOWNLOAD_DELAY", True),
    ],
)
def test_a_setting_that_means_nothing_to_the_fleet_is_said_to(name: str, value: Any) -> None:
    told = "\n".join(announcement(of({name: value}), "s"))
    assert f"{name} = {value!r} has no effect" in told
    assert name not in "\n".join(announcement(of({}), "s"))


def test_stats_in_redis_are_replaced_and_it_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """Redis takes no booleans and gives no texts back: each page became a dead letter, the end a traceback."""
    caplog.set_level(logging.INFO)
    theirs, own = "scrapy_redis.stats.RedisStatsCollector", "scrapy.statscollectors.MemoryStatsCollector"
    for given, kept in ((theirs, defaults.STATS_CLASS), (own, own)):
        complete(settings := project(STATS_CLASS=given))
        assert settings["STATS_CLASS"] == kept
        assert (f"STATS_CLASS = {given!r} is replaced by {kept}" in caplog.text) is (given == theirs)


@pytest.mark.parametrize("name", components.SCALARS)
@pytest.mark.parametrize("value", ["somebody.Else", "collections.OrderedDict", Spider])
def test_any_other_value_is_refused_by_name(name: str, value: Any) -> None:
    if value is Spider:
        value = type("Else", (), {})
    with pytest.raises(ConfigError, match=rf"{name} = '.*(Else|OrderedDict)'.*FRONTIER_ENABLED = False"):
        of({name: value})


def test_paths_of_an_earlier_release_go_on_working_and_the_new_name_is_said(caplog: pytest.LogCaptureFixture) -> None:
    old = {
        "SCHEDULER": "crawler.frontier.scheduler.Scheduler",
        "SCHEDULER_QUEUE_CLASS": "crawler.frontier.queue.FrontierQueue",
        "DUPEFILTER_CLASS": "crawler.frontier.dupefilter.FrontierDupeFilter",
        "DOWNLOADER_MIDDLEWARES": {
            "crawler.middlewares.retry.RetryMiddleware": 540,
            "crawler.middlewares.downloader.costs.CostsMiddleware": None,
        },
    }
    complete(settings := project(**old))
    for name in ("SCHEDULER", "SCHEDULER_QUEUE_CLASS", "DUPEFILTER_CLASS"):
        assert settings[name] == components.SCALARS[name]
        assert f"{name} = {old[name]!r} has moved: use {components.SCALARS[name]}" in caplog.text
    places = settings.getdict("DOWNLOADER_MIDDLEWARES")
    assert places["crawler.middlewares.downloader.retry.RetryMiddleware"] == 540
    assert "crawler.middlewares.retry.RetryMiddleware" not in places
    assert places["crawler.middlewares.downloader.trial_parse.TrialParseMiddleware"] is None


@pytest.mark.parametrize("old", moved.MODULES)
def test_an_import_of_a_module_that_has_moved_names_the_new_one(old: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"{old} has moved: import {moved.MODULES[old]} instead"):
        importlib.import_module(old)
    importlib.import_module(moved.MODULES[old])


@pytest.mark.parametrize("place", [None, 595])
def test_a_component_whose_work_another_does_is_left_out_of_the_settings(
    place: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    ((old, new),) = moved.MERGED.items()
    complete(settings := project(DOWNLOADER_MIDDLEWARES={old: place}))
    assert f"DOWNLOADER_MIDDLEWARES[{old!r}] is gone: {new} does its work" in caplog.text
    places = settings.getdict("DOWNLOADER_MIDDLEWARES")
    assert old not in places
    assert places[new] == components.DOWNLOADER_MIDDLEWARES[new]
    with pytest.raises(ModuleNotFoundError, match=f"is gone: {new} does its work"):
        importlib.import_module(old.rpartition(".")[0])


def test_what_derives_from_ours_is_kept() -> None:
    assert of({"SCHEDULER": Own})["SCHEDULER"] is Own


@pytest.mark.parametrize("addons", [{}, {ADDON: None}, {"scrapy.extensions.logstats.LogStats": 1}])
def test_a_spider_whose_addons_drop_ours_is_refused_by_name(addons: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"ADDONS of spider somebodys"):
        of({"ADDONS": addons})


def test_a_project_without_our_addon_is_told_what_to_write() -> None:
    with pytest.raises(ConfigError) as refused:
        require_addon(Settings({"ADDONS": {}}), "somebodys")
    written = "expected {'crawler.addon.Shoal': 500}, or a dict that contains it, in the settings of the project"
    assert str(refused.value) == f"ADDONS = {{}} is invalid: {written}"


def test_the_handlers_of_scrapy_playwright_are_the_wish_for_a_browser(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    handler = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
    settings = project(DOWNLOAD_HANDLERS={"http": handler, "https": handler, "s3": "somebody.S3"})
    complete(settings)
    assert settings.getdict("DOWNLOAD_HANDLERS") == components.DOWNLOAD_HANDLERS | {"s3": "somebody.S3"}
    assert settings["TIER"] == "http,browser"
    assert "requests with meta['playwright'] are fetched by the browser tier" in caplog.text
    asked = of({"DOWNLOAD_HANDLERS": {"https": handler}, "TIER": "browser"})
    assert asked["TIER"] == "browser", "what is set is kept"


def test_a_spider_may_opt_out_and_keeps_scrapys_settings() -> None:
    settings = of({"FRONTIER_ENABLED": False})
    assert not settings.getdict("DOWNLOADER_MIDDLEWARES")
    changed = {name for name in vars(defaults) if name.isupper() and hasattr(default_settings, name)}
    changed -= {"TELNETCONSOLE_ENABLED", "REMOTE_CONTROL_ENABLED"}
    assert {name: settings[name] for name in changed} == {name: getattr(default_settings, name) for name in changed}
    assert not settings.getbool("REMOTE_CONTROL_ENABLED")


def test_every_tunable_has_its_default_and_what_a_project_sets_wins() -> None:
    settings = of({"RETRY_CLASSES": {}}, FRONTIER_KEY="mine", DOWNLOAD_DELAY=7)
    assert (settings["FRONTIER_KEY"], settings["RETRY_CLASSES"], settings["DOWNLOAD_DELAY"]) == ("mine", {}, 7)
    missing = [name for name in vars(defaults) if name.isupper() and name not in settings]
    assert missing == []


def test_completing_twice_changes_nothing() -> None:
    settings = project(ITEM_PIPELINES={THEIRS: 950})
    complete(settings)
    once = settings.copy_to_dict()
    complete(settings)
    assert settings.copy_to_dict() == once


def test_the_setting_that_is_gone_names_the_new_one() -> None:
    with pytest.raises(ConfigError, match=r"FRONTIER_SPIDER_SETTINGS.*ADDONS"):
        of({}, FRONTIER_SPIDER_SETTINGS={})


@pytest.mark.parametrize(
    ("custom", "requests", "items"),
    [
        ({}, "the frontier 'shoal' on redis://***@r/0", "database 'shoal' on the bundled MongoDB"),
        (
            {"SHOAL_STORE": False, "FEEDS": {"a.json": {}}},
            "the frontier",
            "no pipeline, and to a.json; Shoal",
        ),
        ({"FRONTIER_ENABLED": False}, "Scrapy's own scheduler", "the project's own item pipelines"),
        (
            {"FRONTIER_ENABLED": False, "SCHEDULER": "scrapy_redis.scheduler.Scheduler"},
            "from scrapy_redis.scheduler.Scheduler, outside the fleet (FRONTIER_ENABLED = False)",
            "the project's own item pipelines",
        ),
    ],
)
def test_two_lines_say_where_requests_come_from_and_items_go(
    custom: dict[str, Any], requests: str, items: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    spider = type("Somebodys", (Spider,), {"name": "somebodys", "custom_settings": custom})
    crawler = Crawler(spider, project(REDIS_URL="redis://me:secret@r/0", **PACE))
    crawler.addons.load_settings(crawler.settings)
    said = [one.getMessage() for one in caplog.records if one.name == "crawler.addon"]
    assert len(said) == 2
    assert requests in said[0]
    assert items in said[1]


def test_a_pace_that_is_slower_than_scrapys_is_said_unless_the_project_sets_it() -> None:
    told = [line for line in announcement(of({}, DOWNLOAD_DELAY=0), "s") if "Shoal's own" in line]
    assert len(told) == 1
    assert told[0].startswith("CONCURRENT_REQUESTS_PER_DOMAIN = 1, ROBOTSTXT_OBEY = True: Shoal's own")
    assert "Shoal's own" not in "\n".join(announcement(of(PACE), "s"))


def call(monkeypatch: pytest.MonkeyPatch, command: str, *words: str) -> None:
    """What there is once Scrapy has read its command line, from which it takes *command*."""
    monkeypatch.setattr(sys, "argv", ["scrapy", *words])
    monkeypatch.setattr(sys, "orig_argv", ["python", "scrapy", command, *words])


def test_other_commands_say_nothing_and_stay_scrapys(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    importlib.import_module("scrapy.cmdline")  # as the script `scrapy` does
    call(monkeypatch, "fetch", "https://shop.example/")
    caplog.set_level(logging.INFO)
    crawler = Crawler(Spider, Settings({"ADDONS": {ADDON: 500}}))
    crawler.addons.load_settings(crawler.settings)
    assert [one for one in caplog.records if one.name == "crawler.addon"] == []
    assert crawler.settings["SCHEDULER"] == default_settings.SCHEDULER


@pytest.mark.parametrize("name", sorted(components.TABLES))
@pytest.mark.parametrize(
    "given", ["abc", ["a.b.C"], 5, ("a", 1), b"x", {5: 5}, {None: 5}, {THEIRS: "5"}, {THEIRS: float("nan")}]
)
def test_a_spiders_dict_of_components_that_is_none_is_refused_by_name(name: str, given: Any) -> None:
    with pytest.raises(ConfigError, match=name):
        of({name: given})


@pytest.mark.parametrize("name", [*sorted(components.TABLES), "ADDONS"])
def test_a_place_may_be_any_number_and_no_other_value(name: str) -> None:
    key = "scrapy.extensions.corestats.CoreStats"
    place_of(name, key, 10**400)  # no float can hold it
    for place in (float("inf"), float("nan"), "5", [5]):
        with pytest.raises(ConfigError, match=rf"^{name}\['{key}'\] = .* a number, or None"):
            place_of(name, key, place)


def place_of(name: str, key: str, place: Any) -> None:
    if name == "ADDONS":
        check_addons(BaseSettings({name: {key: place}}))
    else:
        of({name: {key: place}})


@pytest.mark.parametrize("name", sorted(components.TABLES))
def test_what_scrapy_brings_is_looked_at_too(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name}_BASE\['no.such.Class'\]"):
        require_components(of({f"{name}_BASE": {"no.such.Class": 5}}))


@pytest.mark.parametrize("given", [{}, {"crawler.pipelines.clean.CleanPipeline": 1}])
def test_a_store_that_nothing_writes_to_is_refused(given: Any) -> None:
    with pytest.raises(ConfigError, match=r"^FRONTIER_ITEM_PIPELINES = .*SHOAL_STORE = False"):
        of({"FRONTIER_ITEM_PIPELINES": given})
    of({"FRONTIER_ITEM_PIPELINES": given, "ITEM_PIPELINES": {components.MONGODB: 5}})
    of({"FRONTIER_ITEM_PIPELINES": given, "SHOAL_STORE": False})


class Undoing:
    """An add-on that replaces what it should complete."""

    replaced: ClassVar[dict[str, Any]] = {}

    def update_settings(self, settings: Settings) -> None:
        settings.setdict(self.replaced, priority="addon")


@pytest.mark.parametrize("name", [*TABLES, "DOWNLOADER", "SCHEDULER"])
def test_what_another_add_on_undoes_is_refused_by_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    value = {THEIRS: 1} if name in TABLES else default_settings.__dict__[name]
    monkeypatch.setattr(Undoing, "replaced", {name: value})
    require_wired(of({}, ADDONS={Undoing: 400, ADDON: 500}))
    with pytest.raises(ConfigError, match=rf"^{name} = .* an add-on behind Shoal's has replaced it"):
        require_wired(of({}, ADDONS={ADDON: 500, Undoing: 600}))


@pytest.mark.parametrize("addons", [{ADDON: 500, "no.such.AddOn": 600}, {ADDON: 500, 5: 600}, {ADDON: "first"}])
def test_an_add_on_of_a_spider_that_there_is_not_is_named(addons: Any) -> None:
    with pytest.raises(ConfigError, match=r"^ADDONS\["):
        of({"ADDONS": addons})


@pytest.mark.parametrize("given", [[1], "abc", 5])
def test_custom_settings_that_are_no_dict_are_refused(given: Any) -> None:
    with pytest.raises(ConfigError, match="custom_settings of spider somebodys"):
        of(given)


def test_an_old_name_of_a_setting_in_a_spider_is_no_line_of_each_command() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_dicts(Settings(), {"DNS_RESOLVER": "scrapy.resolver.CachingThreadedResolver"})


@pytest.mark.parametrize("name", ["SCHEDULER", "DOWNLOADER", "DUPEFILTER_CLASS", "REDIS_URL", "MONGODB_URI"])
@pytest.mark.parametrize("given", [[1], 5, b"x", True])
def test_a_value_of_another_type_is_refused_by_name(name: str, given: Any) -> None:
    with pytest.raises(ConfigError, match=name):
        of({name: given})


@pytest.mark.parametrize("given", [{5: 5}, {THEIRS: "x"}, {THEIRS: [1]}])
def test_our_pipelines_are_looked_at_too(given: Any) -> None:
    with pytest.raises(ConfigError, match="FRONTIER_ITEM_PIPELINES"):
        of({"FRONTIER_ITEM_PIPELINES": given})


@pytest.mark.parametrize("path", ["no.such.Class", "abc", "crawler.addon.Nope"])
def test_a_component_that_cannot_be_imported_is_named(path: str) -> None:
    with pytest.raises(ConfigError, match=rf"EXTENSIONS\['{path}'\]"):
        require_components(of({"EXTENSIONS": {path: 5}}))


@pytest.mark.parametrize(
    ("given", "server"),
    [
        ({}, "the bundled Redis of this machine"),
        ({"REDIS_URL": "redis://me:secret@r.example/1", "REDIS_HOST": "x"}, "redis://***@r.example/1"),
        ({"REDIS_HOST": "r.example"}, "r.example:6379"),
        ({"REDIS_HOST": "r.example", "REDIS_PORT": 7000, "REDIS_PARAMS": {"db": 3}}, "r.example:7000"),
        ({"REDIS_PORT": "7000"}, "localhost:7000"),
        ({"REDIS_PARAMS": {"url": "redis://r.example"}}, "redis://r.example"),
        ({"REDIS_PARAMS": {"unix_socket_path": "/run/redis"}}, "/run/redis"),
    ],
)
def test_a_start_says_which_redis_has_the_queue(given: Any, server: str) -> None:
    told = "\n".join(announcement(of({}, **given), "s"))
    assert f"come from the frontier 'shoal' on {server}, shared by its workers" in told


@pytest.mark.parametrize("path", ["abc", "crawler.addon.Nope"])
def test_a_component_that_is_off_and_was_never_there_passes_as_in_scrapy(path: str) -> None:
    settings = of({"EXTENSIONS": {path: None}})
    require_components(settings)
    assert path not in build_component_list(settings["EXTENSIONS"])


def test_a_component_that_is_off_is_named_if_its_module_is_gone() -> None:
    with pytest.raises(ConfigError, match=r"EXTENSIONS\['scrapy.telnet.TelnetConsole'\] = None .* leave it out"):
        require_components(of({"EXTENSIONS": {"scrapy.telnet.TelnetConsole": None}}))


@pytest.mark.parametrize("name", ["SCHEDULER_PERSIST", "SCHEDULER_FLUSH_ON_START", "SCHEDULER_IDLE_BEFORE_CLOSE"])
@pytest.mark.parametrize("given", ["abc", [1], {"a": 1}, b"x", float("nan")])
def test_settings_of_scrapy_redis_are_refused_by_name(name: str, given: Any) -> None:
    with pytest.raises(ConfigError, match=name):
        Scheduler.from_settings(of({name: given, "REDIS_URL": "redis://127.0.0.1:1"}))


def test_a_script_is_told_that_it_is_alone(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "scrapy.cmdline", raising=False)
    caplog.set_level(logging.INFO)
    crawler = Crawler(type("Mine", (Spider,), {"name": "mine"}), Settings({"ADDONS": {ADDON: 500}}))
    crawler.addons.load_settings(crawler.settings)
    alone = "Requests of mine come from Scrapy's own scheduler, in this process alone"
    assert [one.getMessage() for one in caplog.records if one.name == "crawler.addon"] == [
        alone + " (a script joins the fleet with FRONTIER_ENABLED = True)",
        "Items of mine go through the project's own item pipelines; Shoal stores nothing",
    ]
    assert crawler.settings["SCHEDULER"] == default_settings.SCHEDULER


def test_a_spider_with_a_queue_or_a_store_of_its_own_is_told_who_does_not_look_there() -> None:
    own = of({"FRONTIER_KEY": "mine", "MONGODB_DATABASE": "mine"})
    [line] = [line for line in announcement(own, "mine") if "of its own" in line]
    assert line.startswith("mine has FRONTIER_KEY and MONGODB_DATABASE of its own: commands that name no ")
    assert not [line for line in announcement(of({}, FRONTIER_KEY="ours"), "mine") if "of its own" in line]


def test_a_command_that_is_none_of_ours_says_why_it_is_alone(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shoal on the path, not installed: `crawl` is Scrapy's, which sets no FRONTIER_ENABLED, nor does a project's own
    command."""
    monkeypatch.setitem(sys.modules, "scrapy.cmdline", sys)
    caplog.set_level(logging.INFO)
    said = []
    for words in (["crawl", "mine"], ["shell"], ["crawlall"]):
        call(monkeypatch, *words)
        caplog.clear()
        crawler = Crawler(type("Mine", (Spider,), {"name": "mine"}), Settings({"ADDONS": {ADDON: 500}}))
        crawler.addons.load_settings(crawler.settings)
        said.append([one.getMessage() for one in caplog.records if one.name == "crawler.addon"])
    why = "this is Scrapy's own `crawl`: Shoal's commands are not installed, `pip install ./shoal` does that"
    assert said[0][0] == f"Requests of mine come from Scrapy's own scheduler, in this process alone ({why})"
    assert said[1] == []
    assert "process alone (`crawlall`, which is none of Shoal's, joins the fleet with FRONTIER_EN" in said[2][0]


def test_only_the_store_can_be_switched_off_by_a_setting() -> None:
    refused = []
    for name, path in (("ITEM_PIPELINES", components.MONGODB), ("EXTENSIONS", "crawler.extensions.idle.IdleExtension")):
        with pytest.raises(ConfigError) as caught:
            of({name: {path: None}})
        refused.append("SHOAL_STORE = False" in str(caught.value))
    assert refused == [True, False]
