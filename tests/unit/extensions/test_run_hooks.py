"""The settings of webhooks, and what is said of one that fails."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.signalmanager import SignalManager

from crawler import run_signals
from crawler.errors import ConfigError
from crawler.extensions import run_listening
from crawler.extensions.run_hooks import HooksConfig, RunHooks, RunSignals
from crawler.extensions.run_listening import RunListener
from crawler.frontier.errors import FrontierRefusedError
from crawler.frontier.run_record import Run
from crawler.frontier.runs.run_events import RunEvent
from tests.shipped import shipped


def event(number: int = 1, *, tries: int = 1) -> RunEvent:
    return RunEvent(f"{number}-0", "start", Run("20261122-1", "nightly", "products", "1", "open", 1), tries)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RUN_WEBHOOK_URL", "ftp://me:s3cret@hooks.example/"),
        ("RUN_WEBHOOK_URL", "nonsense"),
        ("RUN_SIGNALS", "perhaps"),
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
    told = asyncio.run(hooks._post(event(), {}))
    assert told == "TimeoutError: Getting *** took longer than 10 s, was ***"


async def test_a_signal_that_a_dead_worker_was_given_is_sent_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []

    def started(run: Run, stats: object) -> None:
        heard.append(run.id)

    async def totals(self: RunListener, run: Run) -> dict[str, Any]:
        return {}

    monkeypatch.setattr(RunListener, "totals", totals)
    crawler = cast("Crawler", SimpleNamespace(signals=SignalManager()))
    crawler.signals.connect(started, signal=run_signals.run_started)
    assert await RunSignals(crawler, HooksConfig("", "", signals=True, failure_share=0)).tell(event(tries=2))
    assert heard == ["20261122-1"]


class Events:
    """In place of RunEvents: those that are always due, and which are done."""

    def __init__(self, due: list[RunEvent], error: Exception | None = None) -> None:
        self._due = due
        self._error = error
        self.finished: list[str] = []

    async def open(self) -> None:
        if self._error:
            raise self._error

    async def due(self, *_: object) -> list[RunEvent]:
        return self._due

    async def done(self, event_id: str) -> None:
        self.finished.append(event_id)


class Listener(RunListener):
    """Of *events*; says that one is told after *seconds*, unless that is event *bad*."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, events: Events, *, seconds: float = 0, bad: str = "") -> None:
        super().__init__(cast("Crawler", SimpleNamespace(signals=SignalManager())), "hooks", lambda tries: 0)
        worker = SimpleNamespace(name="w", frontier=SimpleNamespace(shards=None))
        monkeypatch.setattr(run_listening, "worker_if_any", lambda _: worker)
        monkeypatch.setattr(run_listening, "RunEvents", lambda *_: events)
        self._seconds, self._bad = seconds, bad

    async def tell(self, event: RunEvent) -> bool:
        if event.id == self._bad:
            raise ValueError("a receiver of a project")
        await asyncio.sleep(self._seconds)
        return True


async def test_a_receiver_that_hangs_does_not_keep_a_worker_from_closing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_listening, "CLOSE_SECONDS", 0.2)
    events = Events([event(number) for number in range(100)])
    listener = Listener(monkeypatch, events, seconds=0.05)
    listener._task = asyncio.create_task(asyncio.sleep(0))
    await listener.spider_closed()
    assert 1 <= len(events.finished) < 10, "those that are left are for other workers"


async def test_an_event_that_cannot_be_told_or_is_unknown_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    newer = RunEvent("2-0", "of a newer release", event().run, 1)
    events = Events([event(1), newer, event(3)])
    await Listener(monkeypatch, events, bad="1-0")._look()
    assert events.finished == ["1-0", "3-0"], "the unknown one is left to workers that know it"
    assert "a receiver of a project" in caplog.text


async def test_that_events_cannot_be_read_is_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    listener = Listener(monkeypatch, Events([], FrontierRefusedError("NOPERM xgroup")))
    for _ in range(3):
        await listener._look()
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "NOPERM xgroup" in caplog.text
