"""The settings of the robots.txt middleware, and whose middleware it is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware as ScrapyRobotsTxtMiddleware
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings

from crawler.errors import ConfigError
from crawler.middlewares.robots import RobotsTxtMiddleware
from crawler.middlewares.robots_fetch import RobotsConfig

FLEET = {"SCHEDULER": "crawler.frontier.scheduler.Scheduler"}


def crawler(**changed: object) -> Any:
    return SimpleNamespace(settings=Settings(project(**changed)), stats=None, spider=None)


def project(**changed: object) -> dict[str, Any]:
    settings = Settings()
    settings.setmodule("settings.base", priority="project")
    settings.setdict(changed, priority="cmdline")
    return dict(settings.copy_to_dict())


def test_the_defaults() -> None:
    settings = Settings(project())
    assert RobotsConfig.from_settings(settings) == RobotsConfig()


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("ROBOTSTXT_TTL_SECONDS", 0, "1 to 86400"),
        ("ROBOTSTXT_TTL_SECONDS", 86_401, "1 to 86400"),
        ("ROBOTSTXT_CACHE_SIZE", 0, "1 to 1000000"),
        ("ROBOTSTXT_TIMEOUT_SECONDS", 0, "1 to 600"),
        ("ROBOTSTXT_RETRY_SECONDS", 0, "0.1 to 3600"),
        ("ROBOTSTXT_UNREACHABLE_DAYS", 0, "1 to 3650"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name: str, value: object, allowed: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} = .* {allowed}"):
        RobotsConfig.from_settings(Settings(project(**{name: value})))


def test_a_crawl_without_the_frontier_gets_scrapys_own() -> None:
    alone = RobotsTxtMiddleware.from_crawler(crawler())
    assert type(alone) is ScrapyRobotsTxtMiddleware
    ours = RobotsTxtMiddleware.from_crawler(crawler(**FLEET))
    assert type(ours) is RobotsTxtMiddleware


@pytest.mark.parametrize("scheduler", [{}, FLEET])
def test_off_where_robots_txt_is_not_obeyed(scheduler: dict[str, str]) -> None:
    with pytest.raises(NotConfigured):
        RobotsTxtMiddleware.from_crawler(crawler(ROBOTSTXT_OBEY=False, **scheduler))
