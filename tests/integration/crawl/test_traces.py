"""Traces of real crawls, as an OTLP receiver gets them."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from typing import Any

from tests.crawling import Fleet, ended
from tests.otlp import Receiver, Seen
from tests.sites import Page, Site

PAGES = {
    "/": Page("<a href=/1><a href=/broken><a href=/moved>"),
    "/1": Page("<title>1</title>"),
    "/broken": Page(status=503),
    "/moved": Page(status=302, headers={"Location": "/there"}),
    "/there": Page("<title>there</title>"),
}
FAR = "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"


async def _crawl(fleet: Fleet, url: str, *lines: str, **settings: Any) -> tuple[int, str]:
    """Push *lines*, traced, and crawl them with *settings*; status and log."""
    fleet.settings = {"TRACES_RATIO": 1, "TRACES_URL": url, "RETRY_TIMES": 1, **settings}
    pushed = await asyncio.to_thread(fleet.runner.run, "push", "walk", *lines, *fleet.options())
    assert pushed.returncode == 0, pushed.stderr
    return await ended(fleet.start())


def _traces(spans: list[Seen]) -> dict[str, list[Seen]]:
    """By the path of their first span, each from its root on."""
    found: dict[str, list[Seen]] = defaultdict(list)
    for span in spans:
        found[span.trace].append(span)
    return {_path(next(one for one in trace if one.name == "push")): trace for trace in found.values()}


def _path(span: Seen) -> str:
    return "/" + str(span.attributes["url.full"]).split("/", 3)[3]


async def test_a_request_is_one_trace_from_its_push_to_its_store_and_links_to_its_page(fleet: Fleet) -> None:
    with Receiver() as receiver, Site(PAGES) as site:
        status, log = await _crawl(fleet, receiver.url, site.url("/"), LOG_LEVEL="INFO")
        spans = receiver.spans
    assert status == 0, log
    traces = _traces(spans)
    assert set(traces) == {"/", "/1", "/broken", "/moved"}
    for path, trace in traces.items():
        by_id = {span.id: span for span in trace}
        above = {span.name: by_id[span.parent].name if span.parent else "" for span in trace}
        once = {"push": "", "lease": "push", "fetch": "lease", "parse": "lease", "store": "lease"}
        assert above == (once if path != "/broken" else {"push": "", "lease": "push", "fetch": "lease"}), path
    leases = {path: [span for span in trace if span.name == "lease"] for path, trace in traces.items()}
    (top,) = leases["/"]
    pushes = {path: next(span for span in trace if span.name == "push") for path, trace in traces.items()}
    assert {path: span.links for path, span in pushes.items()} == {
        "/": (),
        **dict.fromkeys(("/1", "/broken", "/moved"), (top.id,)),
    }
    assert {span.attributes["shoal.parent_id"] for path, span in pushes.items() if path != "/"} == {"0:1"}
    outcomes = {path: [span.attributes["shoal.outcome"] for span in found] for path, found in leases.items()}
    assert outcomes == {"/": ["done"], "/1": ["done"], "/moved": ["done"], "/broken": ["requeued", "http_503"]}
    assert [span.failed for span in leases["/broken"]] == [False, True]
    fetches = [_path(span) for span in traces["/moved"] if span.name == "fetch"]
    assert fetches == ["/moved", "/there"], "a redirect within a host goes on under its lease"
    assert all(0 <= span.seconds < 30 for span in spans)
    assert f"'traces/spans': {len(spans) - 1}" in log, "all but the one of `scrapy push`"
    assert "traces/lost" not in log


async def test_a_receiver_that_is_away_costs_its_spans_and_one_line(fleet: Fleet) -> None:
    with Receiver(status=400) as receiver, Site(PAGES) as site:
        status, log = await _crawl(fleet, receiver.url, site.url("/"))
    assert status == 0
    assert log.count("The receiver of traces does not take them") == 1
    assert "'traces/lost'" in log
    assert "Traceback" not in log
    assert (await fleet.left()).states == {"done": 3, "dead": 1}


async def test_a_trace_that_began_elsewhere_goes_on_here_and_its_children_do_not(fleet: Fleet) -> None:
    with Receiver() as receiver, Site(PAGES) as site:
        line = json.dumps({"url": site.url("/"), "meta": {"traceparent": FAR}})
        noise = json.dumps({"url": site.url("/1"), "meta": {"traceparent": "00-noise"}})
        rare: dict[str, Any] = {"TRACES_RATIO": 1e-18, "LOG_JSON": True, "LOG_LEVEL": "DEBUG"}
        status, log = await _crawl(fleet, receiver.url, line, noise, **rare)
        spans = receiver.spans
    assert status == 0, log
    assert {span.trace for span in spans} == {"ab" * 16}
    assert {span.name for span in spans} == {"push", "lease", "fetch", "parse", "store"}
    assert spans[0].parent == "cd" * 8
    told = [line for line in map(json.loads, log.splitlines()) if "trace_id" in line]
    assert {(line["request_id"], line["trace_id"]) for line in told} == {("0:1", "ab" * 16)}
