"""Traces of a real crawl, as an OTLP receiver gets them."""

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
    "/far": Page("<a href=/below>"),
    "/below": Page("<title>below</title>"),
    "/noise": Page("<title>noise</title>"),
}
FAR = "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"


def _traces(spans: list[Seen]) -> dict[str, list[Seen]]:
    """By the path of their push."""
    found: dict[str, list[Seen]] = defaultdict(list)
    for span in spans:
        found[span.trace].append(span)
    return {_path(next(one for one in trace if one.name == "push")): trace for trace in found.values()}


def _path(span: Seen) -> str:
    return "/" + str(span.attributes["url.full"]).split("/", 3)[3]


async def test_a_request_is_one_trace_from_its_push_to_its_store_and_links_to_its_page(fleet: Fleet) -> None:
    with Receiver() as receiver, Site(PAGES) as site:
        wanted: dict[str, Any] = {"TRACES_RATIO": 1, "TRACES_URL": receiver.url, "RETRY_TIMES": 1}
        fleet.settings = wanted | {"LOG_JSON": True, "LOG_LEVEL": "DEBUG"}
        given = {"/far": FAR, "/noise": "00-noise"}  # a trace that began elsewhere, and none
        lines = [json.dumps({"url": site.url(path), "meta": {"traceparent": text}}) for path, text in given.items()]
        push = ("push", "walk", site.url("/"), *lines)
        pushed = await asyncio.to_thread(fleet.runner.run, *push, *fleet.options())
        assert pushed.returncode == 0, pushed.stderr
        status, log = await ended(fleet.start())
        spans = receiver.spans
    assert status == 0, log
    traces = _traces(spans)
    assert set(traces) == set(PAGES) - {"/there"}
    for path, trace in traces.items():
        by_id = {span.id: span for span in trace}
        above = {span.name: by_id[span.parent].name if span.parent in by_id else span.parent for span in trace}
        once = {"push": "", "lease": "push", "fetch": "lease", "parse": "lease", "store": "lease"}
        first = {"push": "cd" * 8} if path == "/far" else {}
        assert above == (once | first if path != "/broken" else {"push": "", "lease": "push", "fetch": "lease"}), path
    assert {span.trace for span in traces["/far"]} == {"ab" * 16}, "goes on here, and its links do not"
    leases = {path: [span for span in trace if span.name == "lease"] for path, trace in traces.items()}
    pages = dict.fromkeys(("/1", "/broken", "/moved"), "/") | {"/below": "/far"}
    for path, trace in traces.items():
        page = next((leases[found][-1] for found in [pages.get(path)] if found), None)
        made = next(span for span in trace if span.name == "push")
        assert made.links == ((page.id,) if page else ()), path
        assert made.attributes.get("shoal.parent_id") == (page.attributes["shoal.request_id"] if page else None)
    outcomes = {path: [span.attributes["shoal.outcome"] for span in found] for path, found in leases.items()}
    ends = {path: found[-1] for path, found in outcomes.items()}
    assert ends == dict.fromkeys(traces, "done") | {"/broken": "http_503"}
    before = {outcome for found in outcomes.values() for outcome in found[:-1]}
    assert before == {"requeued"}, "a retry of /broken; a busy worker gives back what it cannot send in time"
    assert [span.failed for span in leases["/broken"]] == [*[False] * (len(leases["/broken"]) - 1), True]
    fetches = [_path(span) for span in traces["/moved"] if span.name == "fetch"]
    assert fetches == ["/moved", "/there"], "a redirect within a host goes on under its lease"
    assert all(0 <= span.seconds < 60 for span in spans)
    assert f"'traces/spans': {len(spans) - 3}" in log, "all but those of `scrapy push`"
    assert "traces/lost" not in log
    told = {line["request_id"]: line["trace_id"] for line in map(json.loads, log.splitlines()) if "trace_id" in line}
    assert set(told.values()) == {span.trace for span in spans}
