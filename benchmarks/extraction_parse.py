"""What saved pages cost in parses: product and links together, beside what other libraries take for less."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final

from price_parser import Price
from rich.table import Table
from selectolax.lexbor import LexborHTMLParser

from crawler.defaults import GC_THRESHOLD
from crawler.extraction import Document, extract_product, links
from demo import scoring

ROUNDS: Final = 9  # the first is that of a young worker, whose memories are empty; of all, the best counts

Work = Callable[[str, str], object]


def table(pages: Sequence[scoring.Page]) -> Table:
    """CPU milliseconds a page, the dearest page, and the sum over all in `LexborHTMLParser(text)`."""
    texts = [(Document(page.html, page.url).html, page.url) for page in pages]
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)  # as a worker sets it
    works = _works()
    taken = [{name: _round(work, texts) for name, work in works.items()} for _ in range(ROUNDS)]
    spent = {name: [each[name] for each in taken] for name in works}
    least = sum(map(min, zip(*spent["parse"], strict=True)))
    shown = Table(title=f"{len(texts)} pages, product and links beside one parse of the page")
    for heading in ("", "CPU ms a page", "most", "in parses", "first time"):
        shown.add_column(heading, justify="right" if heading else "left")
    for name, rounds in spent.items():
        best = [min(each) for each in zip(*rounds, strict=True)]
        ratios = sum(best) / least, sum(rounds[0]) / sum(spent["parse"][0])
        shown.add_row(name, f"{sum(best) / len(texts):.2f}", f"{max(best):.1f}", *(f"{ratio:.2f}" for ratio in ratios))
    return shown


def _works() -> dict[str, Work]:
    works: dict[str, Work] = {"parse": lambda text, _: LexborHTMLParser(text), "product and links": _read}
    works["product"] = extract_product
    works["links"] = links
    try:
        extruct: Any = import_module("extruct")
    except ImportError:  # not one of ours: `pip install extruct` to see it beside
        extruct = None
    if extruct is not None:
        syntaxes = ["json-ld", "microdata", "opengraph"]  # without RDFa, for which it takes ten times as long
        works["extruct"] = lambda text, url: extruct.extract(text, url, errors="ignore", syntaxes=syntaxes)
    works["price-parser, each text with a digit"] = _prices
    return works


def _read(text: str, url: str) -> None:
    document = Document(text, url)
    extract_product(document, url)
    links(document, url)


def _prices(text: str, url: str) -> list[Price]:
    shown = (each for each, _ in Document(text, url).texts)
    return [Price.fromstring(each) for each in shown if len(each) <= 80 and any(map(str.isdigit, each))]


def _round(work: Work, texts: Sequence[tuple[str, str]]) -> list[float]:
    """CPU milliseconds of each page."""
    spent: list[float] = []
    for text, url in texts:
        started = time.process_time()
        work(text, url)
        spent.append((time.process_time() - started) * 1000)
    return spent
