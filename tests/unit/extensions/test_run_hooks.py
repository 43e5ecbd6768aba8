"""The settings of webhooks, and what is said of one that fails."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.signalmanager import SignalManager

from crawler.errors import ConfigError
from crawler.extensions.run_hooks import HooksConfig, RunHooks
from crawler.frontier.run_record import Run
from crawler.frontier.runs.run_events import RunEvent
from tests.shipped import shipped


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RUN_WEBHOOK_URL", "ftp://me:s3cret@hooks.example/"),
        ("RUN_WEBHOOK_URL", "nonsense"),
        ("RUN_SIGNALS", "perhaps"),
        ("RUN_FAILURE_SHARE", 1.5),
        ("RUN_FAILURE_SHARE", -1),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    settings = shipped()
    settings.set(name, value, priority="cmdline")
    with pytest.raises(ConfigError, match=name) as refused:
        HooksConfig.from_settings(settings)
    assert "s3cret" not in str(refused.value)


def test_an_error_that_repeats_the_address_does_not_tell_it() -> None:
    url = "http://hooks.example/services/T0/s3cret path?token=s3cret"

    async def hangs(request: Request) -> Any:
        raise TimeoutError(f"Getting {request.url} took longer than 10 s, was {url}")

    handlers = SimpleNamespace(download_request_async=hangs)
    engine = SimpleNamespace(downloader=SimpleNamespace(handlers=handlers))
    crawler = cast("Crawler", SimpleNamespace(engine=engine, signals=SignalManager()))
    hooks = RunHooks(crawler, HooksConfig(url, "", signals=False, failure_share=0))
    run = Run("20261122-1", "nightly", "products", "1", "open", 1)
    told = asyncio.run(hooks._post(RunEvent("1-0", "start", run, 1), {}))
    assert told == "TimeoutError: Getting *** took longer than 10 s, was ***"
