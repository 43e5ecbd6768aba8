"""`make main-text PAGES=DIR`: word F1 of the main text and CPU per page, by kind of page, beside other readers.

DIR holds `truth.json` (file name -> url, kind and, where stated, main_content, title, author, publish_date) and
`html/`, gzip or not. Words (`counting.WORD`) are in lower case, as a bag; F1 of each page, the mean of a kind, that of
the kinds.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from benchmarks import main_text_fit
from crawler import urls
from crawler.defaults import GC_THRESHOLD
from crawler.extraction import Document, extract_page
from crawler.extraction.content.main_text import Weights, main_passages
from crawler.extraction.content.page import kind_and_passages
from crawler.extraction.words.counting import WORD

Reader = Callable[["Page"], str]
FOLDS: Final = 5


@dataclass(frozen=True, slots=True)
class Page:
    """A saved page and what is true of it."""

    name: str
    url: str
    kind: str
    html: bytes = field(repr=False)
    truth: dict[str, Any] = field(repr=False)

    @property
    def text(self) -> str:
        return self.truth.get("main_content") or ""


def load(folder: Path) -> list[Page]:
    """Raises OSError and ValueError for what is no such folder."""
    stated = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    return [Page(name, each["url"], each["kind"], _read(folder / "html" / name), each) for name, each in stated.items()]


def _read(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def words(text: str | None) -> Counter[str]:
    return Counter(WORD.findall((text or "").lower()))


def f1(found: Counter[str], true: Counter[str]) -> float:
    """Of two bags of words; 1 where both are empty."""
    total = found.total() + true.total()
    return 2 * (found & true).total() / total if total else 1.0


def ours(page: Page) -> str:
    return extract_page(Document(page.html, page.url), page.url).text or ""


def trafilatura(page: Page) -> str:
    import trafilatura as library

    found = library.bare_extraction(page.html, url=page.url, with_metadata=True, include_comments=False)
    return (found.as_dict().get("text") or "") if found is not None and not isinstance(found, dict) else ""


def resiliparse(page: Page) -> str:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    text: str = extract_plain_text(
        HTMLTree.parse(Document(page.html, page.url).html), main_content=True, comments=False
    )
    return text


READERS: Final[dict[str, Reader]] = {"shoal": ours, "trafilatura": trafilatura, "resiliparse": resiliparse}


def by_kind(pages: Sequence[Page], texts: Iterable[str]) -> dict[str, float]:
    """The mean F1 of each kind of page."""
    scores = defaultdict(list)
    for page, text in zip(pages, texts, strict=True):
        scores[page.kind].append(f1(words(text), words(page.text)))
    return {kind: mean(values) for kind, values in sorted(scores.items())}


def measured(pages: Sequence[Page], reader: Reader) -> tuple[list[str], list[float]]:
    """The texts, and the CPU milliseconds of each, without start-up: the list of public suffixes is loaded, and the
    first page read twice."""
    urls.registrable("site.example")
    reader(pages[0])
    gc.collect()
    gc.freeze()  # else one page in a hundred pays for looking through all that is loaded
    gc.set_threshold(GC_THRESHOLD)  # as a worker sets it
    texts, times = [], []
    for page in pages:
        started = time.process_time()
        texts.append(reader(page))
        times.append(1000 * (time.process_time() - started))
    return texts, times


def table(pages: Sequence[Page], names: Sequence[str]) -> Table:
    kinds = sorted({page.kind for page in pages})
    shown = Table(title=f"Main text of {len(pages)} pages: word F1 by kind, CPU ms a page")
    for heading in ("reader", *kinds, "kinds", "pages", "mean ms", "most ms"):
        shown.add_column(heading, justify="left" if heading == "reader" else "right")
    for name in names:
        texts, times = measured(pages, READERS[name])
        shown.add_row(name, *_figures(pages, texts), f"{mean(times):.1f}", f"{max(times):.0f}")
    return shown


def _figures(pages: Sequence[Page], texts: Sequence[str]) -> list[str]:
    scores = by_kind(pages, texts)
    each = mean(f1(words(text), words(page.text)) for page, text in zip(pages, texts, strict=True))
    return [f"{score:.3f}" for score in (*scores.values(), mean(scores.values()), each)]


def cross_validated(pages: Sequence[Page], examples: Sequence[main_text_fit.Examples], seed: int) -> list[str]:
    """The texts by weights that were learned without any page of their site; *seed* deals the sites to folds."""
    sites = sorted({main_text_fit.site(page.url) for page in pages})
    Random(seed).shuffle(sites)
    texts = [""] * len(pages)
    for fold in range(FOLDS):
        out = set(sites[fold::FOLDS])
        held = [main_text_fit.site(page.url) in out for page in pages]
        weights = Weights(main_text_fit.fit([each for each, skip in zip(examples, held, strict=True) if not skip]))
        for at, page in enumerate(pages):
            if held[at]:
                kind, found = kind_and_passages(Document(page.html, page.url))
                texts[at] = "\n".join(each.text for each in main_passages(found, kind, weights))
    return texts


def unseen(pages: Sequence[Page], times: int) -> Table:
    """The figures of `cross_validated` for as many deals of the sites: one deal alone is off by up to .01."""
    examples = [main_text_fit.examples(page.html, page.url, page.kind, page.text) for page in pages]
    shown = Table(title="Word F1, weights learned from other sites")
    for heading in ("deal", *sorted({page.kind for page in pages}), "kinds", "pages"):
        shown.add_column(heading)
    for seed in range(times):
        shown.add_row(str(seed), *_figures(pages, cross_validated(pages, examples, seed)))
    return shown


def facts(pages: Sequence[Page]) -> Table:
    """How often title, author and date are right where they are stated, beside trafilatura."""
    import trafilatura as library

    shown = Table(title="Metadata: word F1 of title and author, share of right dates")
    for heading in ("reader", "title", "author", "date"):
        shown.add_column(heading)
    rows: dict[str, list[tuple[Page, Any, Any, Any]]] = {"shoal": [], "trafilatura": []}
    for page in pages:
        item = extract_page(Document(page.html, page.url), page.url)
        rows["shoal"].append((page, item.title, item.author, str(item.published_at)[:10]))
        found = library.bare_extraction(page.html, url=page.url, with_metadata=True)
        read = {} if found is None or isinstance(found, dict) else found.as_dict()
        rows["trafilatura"].append((page, read.get("title"), read.get("author"), read.get("date")))
    for name, of_pages in rows.items():
        title = [
            f1(words(title), words(page.truth["title"])) for page, title, _, _ in of_pages if page.truth.get("title")
        ]
        author = [f1(words(by), words(page.truth["author"])) for page, _, by, _ in of_pages if page.truth.get("author")]
        date = [on == page.truth["publish_date"] for page, _, _, on in of_pages if page.truth.get("publish_date")]
        shown.add_row(name, *(f"{mean(map(float, values)):.3f} ({len(values)})" for values in (title, author, date)))
    return shown


def main() -> None:
    """Print the tables; exit status 2 when the folder cannot be used."""
    parser = argparse.ArgumentParser(prog="benchmarks.main_text", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--readers", nargs="+", choices=READERS, default=list(READERS))
    parser.add_argument(
        "--cross-validate",
        type=int,
        nargs="?",
        const=1,
        default=0,
        metavar="TIMES",
        help="learn the weights anew, without each page's site, for so many deals of the sites to folds",
    )
    parser.add_argument("--facts", action="store_true", help="measure title, author and date, too")
    parser.add_argument("--pages", action="store_true", help="print the F1 of each page")
    parser.add_argument("--fit", action="store_true", help="learn the weights from all pages; writes reading.toml")
    options = parser.parse_args()
    try:
        pages = load(options.folder)
    except (OSError, ValueError, KeyError) as error:
        parser.error(f"{options.folder} is no folder of labelled pages (truth.json and html/): {error}")
    console = Console(width=160)
    if options.fit:
        main_text_fit.write([main_text_fit.examples(page.html, page.url, page.kind, page.text) for page in pages])
        console.print("Wrote the weights; run this again to see what they give.")
        return
    console.print(table(pages, options.readers))
    if options.cross_validate:
        console.print(unseen(pages, options.cross_validate))
    if options.facts:
        console.print(facts(pages))
    for page in pages if options.pages else ():
        console.print(
            f"{f1(words(ours(page)), words(page.text)):.2f} {page.kind} {page.name} {page.url}", highlight=False
        )


if __name__ == "__main__":
    main()
