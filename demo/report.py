"""The tables at the end of the demo."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rich.table import Table
from rich.text import Text

from crawler.commands.views.tables import narrow_table
from demo.catalogue import Store
from demo.log import TOLERANCE, HostManners
from demo.score import Document, Score
from demo.site import CRAWL_DELAY

SAMPLE_PER_STORE = 3
MOST_CHANGES = 15
MOST_PROBLEMS = 20  # shown per kind
_ERROR = re.compile(r"\b(ERROR|CRITICAL)\b")


def stored(documents: Sequence[Document]) -> Table:
    """A few stored products of each store."""
    table = narrow_table("Some of what is stored", [], [])
    for name in ("host", "title", "price", "availability", "read from"):
        fixed = name != "title"  # only a title may wrap
        table.add_column(name, justify="right" if name == "price" else "left", no_wrap=fixed)
    shown: Counter[str] = Counter()
    for document in documents:
        host = _host(document["url"])
        shown[host] += 1
        if shown[host] <= SAMPLE_PER_STORE:
            found_in = (document.get("found_in") or {}).get("price", "")
            price = _amount(document.get("price"), document.get("currency"))
            table.add_row(
                host, Text(str(document["title"])), price, _text(document.get("availability")), _text(found_in)
            )
    return table


def per_store(stores: Iterable[Store], score: Score, manners: Sequence[HostManners]) -> Table:
    """One row per store: the results, and how the crawler behaved."""
    figures = ["stored", "lost", "requests", "least gap", "short", "forbidden"]
    table = narrow_table("By shop", ["host", "shop"], figures)
    table.caption_justify = "left"
    table.caption = f"short: gaps under {CRAWL_DELAY - TOLERANCE:g} s; forbidden: requests that robots.txt disallows"
    held = Counter(_host(document["url"]) for document in score.stored)
    lost = Counter(_host(line) for line in score.lost)
    behaved = {row.host: row for row in manners}
    for store in stores:
        row = behaved.get(store.host, HostManners(store.host, 0, None, 0, 0))
        gap = "" if row.smallest_gap is None else f"{row.smallest_gap:.3f} s"
        counts = (held[store.host], lost[store.host], row.requests, gap, row.too_close, row.violations)
        table.add_row(store.host, store.name, *map(str, counts))
    return table


def changes(records: Sequence[Mapping[str, Any]], titles: Mapping[str, str]) -> Table:
    """Changes since the previous run, from `product_changes`."""
    table = narrow_table(f"Prices that changed: {len(records)}", [], [])
    for name in ("host", "title", "before", "now"):
        table.add_column(name, justify="right" if name in ("before", "now") else "left")
    for record in records[:MOST_CHANGES]:
        price = record["changes"]["price"]
        title = Text(titles.get(record["url"], ""))
        table.add_row(_host(record["url"]), title, _text(price["old"]), _text(price["new"]))
    if len(records) > MOST_CHANGES:
        table.add_row("…", f"and {len(records) - MOST_CHANGES} more", "", "")
    return table


def problems(score: Score, rejected: Mapping[str, Sequence[str]], logs: Iterable[Path]) -> Iterator[str]:
    """A line for each loss, each duplicate, and each log with errors."""
    for loss in score.lost[:MOST_PROBLEMS]:
        why = rejected.get(loss.rpartition(": ")[0], ())
        yield f"lost: {loss}" + (f" (rejected: {', '.join(why)})" if why else "")
    for url in score.duplicated[:MOST_PROBLEMS]:
        yield f"duplicated: {url}"
    for log in logs:
        errors = [line for line in log.read_text(errors="replace").splitlines() if _ERROR.search(line)]
        if errors:
            yield f"{len(errors)} errors in {log}, the first: {errors[0]}"


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _amount(price: object, currency: object) -> str:
    return "" if price is None else f"{price} {currency or '?'}"


def _text(value: object) -> str:
    return "" if value is None else str(value)
