"""`make extraction PAGES=DIR`: precision, recall and F1 per field on saved pages, and what extraction costs.

DIR holds `truth.json` (file name -> url, and per field the accepted values) and `html/`, gzip or not. Without it
only the cost of synthetic pages is measured.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from benchmarks import extraction_cost, extraction_parse
from crawler.extraction import Document, extract_product
from demo import scoring

# Structured data, which is removed for readers that do not know it.
_MACHINES = (
    (re.compile(r"application/ld\+json", re.IGNORECASE), "text/plain"),
    (re.compile(r"\b(?:itemprop|itemscope|itemtype|typeof)\b"), "data-removed"),
    (re.compile(r"(?:property|name)\s*=\s*[\"']?(?:og|product|twitter):", re.IGNORECASE), 'data-removed="'),
)


def main() -> None:
    """Print the tables; exit status 2 if the folder is unusable."""
    parser = argparse.ArgumentParser(prog="benchmarks.extraction", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--errors", action="store_true", help="list every wrong or missed value")
    parser.add_argument("--shown-only", action="store_true", help="remove the structured data of the pages first")
    options = parser.parse_args()
    try:
        pages = scoring.load(options.folder) if options.folder is not None else None
    except (OSError, ValueError) as error:
        parser.error(f"{options.folder} is no folder of saved pages (truth.json and html/): {error}")
    console = Console()
    console.print(extraction_cost.table())
    if pages is not None:
        console.print(extraction_parse.table(pages))
        run(pages, console, errors=options.errors, shown_only=options.shown_only)


def run(pages: Sequence[scoring.Page], console: Console, *, errors: bool = False, shown_only: bool = False) -> None:
    """Extract from all *pages* and print the scores; with *shown_only* from the visible page alone."""
    results: list[tuple[scoring.Page, dict[str, Any] | None]] = []
    times: list[float] = []
    for page in pages:
        html = without_structure(page) if shown_only else page.html
        started = time.process_time()
        item = extract_product(html, page.url)
        times.append((time.process_time() - started) * 1000)
        results.append((page, asdict(item) if item is not None else None))
    title = f"{len(pages)} pages" + (", structured data removed" if shown_only else "")
    console.print(scoring.table(scoring.compare((page.accepted, item) for page, item in results), title))
    for page, found in results if errors else ():
        for line in mistakes(page, found):
            console.print(f"{page.name}  {line}", highlight=False, soft_wrap=True)
    size = median(len(page.html) for page in pages) / 1024
    console.print(f"CPU per page: median {median(times):.1f} ms, most {max(times):.1f} ms (median page {size:.0f} KB)")


def without_structure(page: scoring.Page) -> str:
    """The page without JSON-LD, microdata, RDFa and Open Graph."""
    html = Document(page.html, page.url).html
    for pattern, instead in _MACHINES:
        html = pattern.sub(instead, html)
    return html


def mistakes(page: scoring.Page, item: dict[str, Any] | None) -> list[str]:
    """One line for each field that is wrong or missed."""
    lines = []
    for name in scoring.FIELDS:
        score = scoring.Score(name)
        value = (item or {}).get(name)
        scoring.count(score, page.accepted.get(name, ()), value)
        if score.wrong or score.missed:
            source = (item or {}).get("found_in", {}).get(name, "-")
            lines.append(f"{name}: {value} ({source}), accepted {page.accepted.get(name, 'none')}")
    return lines


if __name__ == "__main__":
    main()
