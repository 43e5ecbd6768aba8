"""Where an item comes from is what its lease says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from crawler.items import PageItem
from crawler.middlewares.spider import provenance
from crawler.middlewares.spider.provenance import ProvenanceMiddleware
from crawler.worker.leases.lease_book import LeaseBook
from tests.unit.frontier.fakes import held


def test_a_middleware_that_empties_meta_costs_an_item_neither_its_run_nor_its_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    book, request, lease = LeaseBook(), Request("http://a.example/"), held()
    response = Response(request.url, request=request)
    book.hold(request, lease)
    book.answered(response, lease)
    request.meta.clear()
    monkeypatch.setattr(provenance, "worker_if_any", lambda crawler: SimpleNamespace(book=book, name="w"))
    crawler: Any = SimpleNamespace(spider=SimpleNamespace(name="s"))
    item = ProvenanceMiddleware(crawler).each(PageItem(url=response.url, title="t"), response)
    assert (item.source["request_id"], item.source["run"]) == (lease.lease.id, lease.run_id)
    assert item.source["request_id"]
