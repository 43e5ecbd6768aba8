"""What the tables say at the end."""

from __future__ import annotations

import io
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


def shown(table: object) -> str:
    out = io.StringIO()
    Console(file=out, width=160).print(table)
    return out.getvalue()


def test_stored_products_show_what_mongodb_has() -> None:
    text = shown(report.stored([KETTLE] * (report.SAMPLE_PER_STORE + 2)))

    assert text.count("Kettle [30 l]") == report.SAMPLE_PER_STORE
    assert "1.50 EUR" in text
    assert "json-ld" in text


def test_each_store_has_a_row_with_its_smallest_gap() -> None:
    score = Score(stored=(KETTLE,), lost=("http://127.0.0.3:8000/product/x: absent",), duplicated=())
    manners = [HostManners("127.0.0.2", 120, 0.1004, 2, 1)]
    rows = {
        line.split()[1]: line for line in shown(report.per_store(STORES, score, manners)).splitlines() if "127" in line
    }

    assert len(rows) == len(STORES)
    assert "0.100 s" in rows["127.0.0.2"]
    assert rows["127.0.0.2"].split("│")[3].strip() == "1"
    assert rows["127.0.0.3"].split("│")[4].strip() == "1"


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
