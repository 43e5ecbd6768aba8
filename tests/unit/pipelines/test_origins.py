"""Items that pass no spider middleware: those of errbacks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from scrapy import Request

from crawler.pipelines import origins


def test_an_item_of_an_errback_is_part_of_the_run_of_its_page() -> None:
    crawler: Any = SimpleNamespace(spider=SimpleNamespace(name="s"))
    request = Request("http://a.example/", meta={"request_id": "0:1", "run_id": "20270101-1"})
    failure: Any = SimpleNamespace(request=request)  # as a Failure has it, once the engine has failed
    found = origins._origin(crawler, failure)
    assert (found.url, found.source) == (
        "http://a.example/",
        {"spider": "s", "request_id": "0:1", "run": "20270101-1"},
    )
