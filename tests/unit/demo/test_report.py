"""What the tables say at the end."""

from __future__ import annotations

import io
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

from rich.console import Console

from demo import report
from demo.catalogue import STORES
from demo.log import HostManners
from demo.score import Score

KETTLE: dict[str, Any] = {
    "url": "http://127.0.0.2:8000/product/kettle",
    "title": "Kettle [30 l]",
    "price": Decimal("1.50"),
    "currency": "EUR",
    "found_in": {"price": "json-ld"},
}


def shown(table: object, width: int = 160) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(table)
    return out.getvalue()


def test_stored_products_show_what_mongodb_has() -> None:
    text = shown(report.stored([KETTLE] * (report.SAMPLE_PER_STORE + 2)))

    assert text.count("Kettle [30 l]") == report.SAMPLE_PER_STORE
    assert "1.50 EUR" in text
    assert "json-ld" in text


def test_each_store_has_a_row_with_its_smallest_gap() -> None:
    score = Score(stored=(KETTLE,), lost=("http://127.0.0.3:8000/product/x: absent",), duplicated=())
    manners = [HostManners("127.0.0.2", 120, 0.1004, 2, 1)]
    lines = shown(report.per_store(STORES, score, manners)).splitlines()
    rows = {line.split()[0]: re.split(r"\s{2,}", line.strip()) for line in lines if line.startswith("127")}

    assert len(rows) == len(STORES)
    assert rows["127.0.0.2"][2:] == ["1", "0", "120", "0.100 s", "2", "1"]
    assert rows["127.0.0.3"][2:4] == ["0", "1"]


def test_tables_fit_a_terminal_of_80_columns() -> None:
    long = KETTLE | {"title": "Stainless steel kettle, 30 litres, with a very long name", "availability": "OutOfStock"}
    manners = [HostManners(store.host, 12_345, 0.1004, 2, 1) for store in STORES]
    tables = (report.stored([long]), report.per_store(STORES, Score((), (), ()), manners))

    for table in tables:
        text = shown(table, width=80)
        assert max(map(len, text.splitlines())) <= 80
        assert "OutOfStock" in text or "0.100 s" in text  # nothing but a title is cut


def test_price_changes_show_before_and_now_and_how_many_are_left_out() -> None:
    record = {"url": KETTLE["url"], "changes": {"price": {"old": Decimal(2), "new": Decimal("1.50")}}}
    text = shown(report.changes([record] * (report.MOST_CHANGES + 4), {KETTLE["url"]: "Kettle"}))

    assert "and 4 more" in text
    assert "1.50" in text


def test_problems_name_the_loss_its_reason_and_the_log(tmp_path: Path) -> None:
    log = tmp_path / "worker-1.log"
    log.write_text("INFO: fine\n[scrapy] ERROR: it broke\n")
    score = Score(stored=(), lost=("http://h/a: absent", "http://h/b: absent"), duplicated=("http://h/c",))

    assert list(report.problems(score, {"http://h/a": ["missing_title"]}, [log])) == [
        "lost: http://h/a: absent (rejected: missing_title)",
        "lost: http://h/b: absent",
        "duplicated: http://h/c",
        f"1 errors in {log}, the first: [scrapy] ERROR: it broke",
    ]
    assert not list(report.problems(Score((), (), ()), {}, []))
