"""What a start refuses of the process that it runs in."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawler.commands.preflight import check_process, check_reactor
from crawler.errors import ConfigError


@pytest.mark.parametrize(
    ("name", "value"),
    [("TWISTED_REACTOR", "twisted.internet.selectreactor.SelectReactor"), ("TWISTED_REACTOR_ENABLED", False)],
)
def test_a_spider_cannot_choose_another_reactor(name: str, value: object) -> None:
    check_process(Settings(), Settings(), "shop")
    with pytest.raises(ConfigError, match=f"^{name} of spider shop = .*, as in the project's settings"):
        check_process(Settings(), Settings({name: value}), "shop")
    check_process(Settings({name: value}), Settings({name: value}), "shop")


@pytest.mark.parametrize("loop", ["nope", "asyncio.SelectorEventLoopPolicy", 5])
def test_a_spider_cannot_choose_another_event_loop(loop: object) -> None:
    project = Settings({"ASYNCIO_EVENT_LOOP": "asyncio.SelectorEventLoop"})
    for same in (
        "asyncio.SelectorEventLoop",
        "asyncio.BaseEventLoop",
        "asyncio.unix_events._UnixSelectorEventLoop",
        None,
    ):
        check_process(project, Settings({"ASYNCIO_EVENT_LOOP": same}), "shop")
    with pytest.raises(ConfigError, match=r"^ASYNCIO_EVENT_LOOP of spider shop = .*, as in the project's settings"):
        check_process(project, Settings({"ASYNCIO_EVENT_LOOP": loop}), "shop")


@pytest.mark.parametrize("path", [None, "", "twisted.internet.selectreactor.SelectReactor"])
def test_a_worker_needs_the_event_loop_of_asyncio(path: str | None) -> None:
    check_reactor(Settings())
    check_reactor(Settings({"TWISTED_REACTOR": path, "TWISTED_REACTOR_ENABLED": False}))  # then there is only that
    with pytest.raises(
        ConfigError, match=r"^TWISTED_REACTOR = .*: expected twisted\.\S*AsyncioSelectorReactor, which "
    ):
        check_reactor(Settings({"TWISTED_REACTOR": path}))
