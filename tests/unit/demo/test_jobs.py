"""How a job judges what a crawl left behind, with documents made by hand."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from demo import catalogue
from demo.jobs import Pages, Result, Shops
from demo.log import Entry
from demo.pages import PagesError
from demo.state import State

PORT = 8000


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=140)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def documents(day: int) -> list[dict[str, Any]]:
    return [product.truth() for product in catalogue.build(size=20, day=day, port=PORT).products]


def test_a_complete_crawl_of_the_shops_is_perfect_and_shows_manners(console: Console) -> None:
    log = [Entry(at, "127.0.0.2", "/", 200, "test") for at in (1.0, 1.125)]
    score = Shops(20).judge(State(PORT), Result(documents(1), [], log), console)

    assert score.line() == "demo: 100 products stored, 0 lost, 0 duplicated"
    assert "0.125 s" in written(console)
    assert "Prices that changed" not in written(console)


def test_on_the_second_day_yesterdays_prices_are_losses(console: Console) -> None:
    today = catalogue.build(size=20, day=2, port=PORT)
    score = Shops(20).judge(State(PORT, day=2), Result(documents(1), [], []), console)

    new = len(today.products) - len({item["url"] for item in documents(1)} & {item.url for item in today.products})
    assert len(score.lost) == len(today.changed) + new
    assert f"The shops changed {len(today.changed)} prices since yesterday." in written(console)


def test_a_field_nobody_reads_shows_in_the_table_and_is_no_loss(console: Console) -> None:
    found = [{**document, "brand": None} for document in documents(1)]
    score = Shops(20).judge(State(PORT), Result(found, [], []), console)

    (brand,) = (line.split() for line in written(console).splitlines() if line.startswith("brand"))
    assert brand[1:4] == ["0", "0", "100"]
    assert score.perfect()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "html").mkdir()
    for name in "ab":
        (tmp_path / "html" / f"{name}.html.gz").write_bytes(gzip.compress(b"<p>"))
    truth = {f"{name}.html.gz": {"url": f"https://{name}.example/p", "price": ["1.50"]} for name in "ab"}
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    return tmp_path


def test_saved_pages_need_one_document_each(folder: Path, console: Console) -> None:
    job = Pages(folder)
    first = {"url": "http://127.0.1.1:8000/p", "price": "1.5"}
    score = job.judge(State(PORT), Result([first, {**first, "url": first["url"] + "?x=1"}], [], []), console)

    assert score.stored == (first,)
    assert score.lost == ("http://127.0.1.2:8000/p: absent",)
    assert score.duplicated == ("http://127.0.1.1:8000/p?x=1",)
    assert "2 saved pages, stored against true" in written(console)


def test_jobs_differ_in_what_they_are_and_serve(folder: Path) -> None:
    shops, saved = Shops(20), Pages(folder)

    assert shops.serve(State(PORT, day=3)) == ["--day", "3", "--size", "20"]
    assert saved.serve(State(PORT, day=3)) == ["--pages", str(folder)]
    assert shops.identity != Shops(21).identity != saved.identity
    assert (shops.expected, saved.expected) == (100, 2)


def test_links_of_saved_pages_are_not_followed(folder: Path) -> None:
    from crawler.extraction import links
    from crawler.policy.rules.domains import load_rules

    url, page = "http://127.0.1.1:8000/p", '<a href="/product/kettle-12">Kettle</a>'
    rules = load_rules(str(Pages(folder).settings["DOMAINS_FILE"])).for_url(url)

    assert list(links(page, url))
    assert not list(links(page, url, rules))


def test_a_folder_without_truth_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PagesError, match=r"truth\.json"):
        Pages(tmp_path)
