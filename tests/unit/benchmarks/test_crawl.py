"""The arithmetic of the crawl benchmark, and that it writes its own section only."""

from __future__ import annotations

import importlib
import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from benchmarks import crawl, document
from benchmarks.crawl import SAME, SHOAL, STOCK, Bench, Figures, median, table
from benchmarks.static_shop import HOSTS, sites
from benchmarks.worker import Worker
from crawler.embedded import Endpoints


def test_medians_are_taken_field_by_field() -> None:
    figures = [Figures(1.0, 900, 80, 5), Figures(3.0, 700, 90, 4), Figures(2.0, 800, 70, 6)]
    assert median(figures) == Figures(2.0, 800, 80, 5)


def test_ratios_say_how_many_times_better_we_are() -> None:
    ours, same, stock = Figures(1.0, 900, 80, 4), Figures(0.5, 600, 240, 6), Figures(3.0, 300, 120, 12)
    rows = table({SHOAL: [ours], SAME: [same], STOCK: [stock]})

    assert rows[0] == [SHOAL, "1.00", "900", "80", "4.0"]
    assert rows[3] == [f"times better: {SHOAL}", "3.00", "3.00", "1.50", "3.00"]
    assert rows[4] == [f"times better: {SAME}", "6.00", "2.00", "0.50", "2.00"]
    assert len(rows) == 5


def test_the_stock_project_differs_in_shoal_only_by_the_add_on_and_where_items_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(crawl.DIRECTORIES[SAME]))
    stock, ours = (_settings(f"stock.{name}") for name in ("settings", "in_shoal"))

    assert ours == stock | {"ADDONS": {"crawler.addon.Shoal": 500}, "ITEM_PIPELINES": {}}
    assert crawl.DIRECTORIES[SAME] == crawl.DIRECTORIES[STOCK]


@pytest.mark.parametrize(
    ("counts", "first"), [([0, 5, 20, 60, 100], 20), ([0, 100], 0), ([100], 0)], ids=["long", "short", "at once"]
)
def test_a_round_is_measured_from_a_tenth_or_the_last_look_before_all_is_stored(
    counts: list[int], first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl, "POLL_SECONDS", 0)
    monkeypatch.setattr("pymongo.MongoClient", lambda uri: {})
    bench = Bench(Endpoints("redis://127.0.0.1:1", ""), (), 100)
    products = SimpleNamespace(estimated_document_count=iter(counts).__next__)
    monkeypatch.setattr(bench, "_mongodb", {"a": {"products": products}})
    worker = Worker(["sleep", "60"], tmp_path, tmp_path / "log")
    began, ended = bench.watch(worker, "a")
    worker.kill()
    assert (began.stored, ended.stored) == (first, 100)


def test_a_section_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    file = tmp_path / "docs" / "benchmarks.md"
    for name, text in (("one", "1"), ("two", "2"), ("one", "new")):
        document.write(name, text, file)

    written = file.read_text()
    assert written.index("<!-- one: begin -->\nnew\n") < written.index("<!-- two: begin -->\n2\n")
    assert "\n1\n" not in written
    assert written.count("# Benchmarks") == 1


def test_rows_make_a_markdown_table() -> None:
    assert document.rows(("a", "b"), [["x", "1"]]) == "| a | b |\n| --- | ---: |\n| x | 1 |"


def test_the_static_shop_links_every_page_and_each_is_20_kb() -> None:
    site = sites(HOSTS * 120, port=8000)["127.0.0.3"]
    found, path = [], "/"
    while path:
        listing = LexborHTMLParser(site.reply(path, {}).body)
        found += [link.attributes["href"] or "" for link in listing.css("article.card > a")]
        following = listing.css_first("a.next")
        path = (following.attributes["href"] or "") if following else ""
    pages = [site.reply(link, {}) for link in found]

    assert len(set(found)) == 120
    assert all(page.status == 200 and 19_000 < len(page.body) < 21_000 for page in pages)
    data = LexborHTMLParser(pages[0].body).css_first('script[type="application/ld+json"]')
    assert data is not None
    assert json.loads(data.text())["@graph"][-1]["offers"]["priceCurrency"] == "EUR"


def test_a_worker_is_measured_while_it_lives_and_after(tmp_path: Path) -> None:
    script = "import time\nwhile time.process_time() < 0.3: pass\nprint('busy', flush=True)\ntime.sleep(60)"
    worker = Worker(["python3", "-c", script], tmp_path, tmp_path / "log")
    first = worker.sample(0)
    while "busy" not in worker.log.read_text():
        time.sleep(0.01)

    last = worker.sample(1)
    assert first.cpu <= last.cpu
    assert last.cpu > 0.25
    assert worker.peak_mb() > 1
    assert worker.end() >= 0.3
    with pytest.raises(ChildProcessError, match="ended with status"):
        worker.sample(2)


def test_a_worker_that_fails_is_told_with_its_log_though_it_is_ended_on_the_way_out(tmp_path: Path) -> None:
    worker = Worker(["false"], tmp_path, tmp_path / "log")

    def round_of_it() -> None:
        try:
            while True:
                worker.sample(0)
        finally:
            worker.end()

    with pytest.raises(ChildProcessError, match=r"ended with status 1, see .*/log"):
        round_of_it()


def test_one_that_has_ended_by_itself_is_measured_all_the_same(tmp_path: Path) -> None:
    worker = Worker(["python3", "-c", "print('over')"], tmp_path, tmp_path / "log")
    while "over" not in worker.log.read_text():
        time.sleep(0.01)
    time.sleep(0.2)
    assert worker.end() > 0


def _settings(module: str) -> dict[str, Any]:
    return {name: value for name, value in vars(importlib.import_module(module)).items() if name.isupper()}
