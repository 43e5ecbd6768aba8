"""The demo's two jobs: shops that know their truth, and saved real pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from rich.console import Console

from demo import catalogue, pages, report, scoring
from demo.log import Entry, manners
from demo.score import Document, Score, score
from demo.state import State

FIELDS: Final = (*scoring.FIELDS, "rating", "review_count")


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a crawl."""

    documents: Sequence[Document]
    price_changes: Sequence[Document]
    log: Sequence[Entry]


class Job(Protocol):
    """Something to crawl, and how to score it."""

    identity: Any  # identity as JSON: each job has its own data
    what: str  # its description
    expected: int  # products
    settings: Mapping[str, object]  # additional settings of its workers

    def serve(self, state: State) -> list[str]:
        """Arguments of demo.shop for this run."""

    def judge(self, state: State, result: Result, console: Console) -> Score:
        """Print the tables and return the score."""


class Shops:
    """The demo shops, one day further each time."""

    def __init__(self, size: int) -> None:
        goods = catalogue.build(size=size)
        self.identity: Any = goods.truth()
        self.what = f"{len(goods.products)} products in {len(goods.stores)} shops"
        self.expected = len(goods.products)
        self.settings: Mapping[str, object] = {}
        self._size = size

    def serve(self, state: State) -> list[str]:
        """The shops of the state's day."""
        return ["--day", str(state.day), "--size", str(self._size)]

    def judge(self, state: State, result: Result, console: Console) -> Score:
        """Against the shops' own truth."""
        goods = catalogue.build(size=self._size, day=state.day, port=state.port)
        verdict = score(goods.truth(), result.documents)
        console.print(report.stored(verdict.stored))
        console.print(scoring.table(scoring.compare(_pairs(goods, verdict), FIELDS), "Fields, stored against true"))
        if state.day > 1:
            titles = {product.url: product.title for product in goods.products}
            console.print(report.changes(result.price_changes, titles))
            console.print(f"The shops changed {len(goods.changed)} prices since yesterday.", highlight=False)
        console.print(report.per_store(goods.stores, verdict, manners(result.log)))
        return verdict


def _pairs(goods: catalogue.Catalogue, verdict: Score) -> Iterator[tuple[dict[str, list[str]], Document | None]]:
    """For each true product its accepted values, and its stored document."""
    stored = {document["url"]: document for document in verdict.stored}
    for product in goods.products:
        known = product.truth()
        yield {field: [str(known[field])] for field in FIELDS}, stored.get(product.url)


class Pages:
    """A folder of saved pages; raises PagesError if it is not one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._pages = pages.load(self._folder)
        self.what = f"{len(self._pages)} saved pages"
        self.identity: Any = [str(self._folder), [saved.page.name for saved in self._pages]]
        self.expected = len(self._pages)
        self.settings: Mapping[str, object] = {"DOMAINS_FILE": str(pages.RULES)}

    def serve(self, state: State) -> list[str]:
        """The same pages every day."""
        return ["--pages", str(self._folder)]

    def judge(self, state: State, result: Result, console: Console) -> Score:
        """One document for each page, and its fields against the accepted values."""
        by_host: dict[str, list[Document]] = {saved.host: [] for saved in self._pages}
        for document in result.documents:
            by_host[urlsplit(document["url"]).hostname or ""].append(document)
        pairs = [(saved.page.accepted, next(iter(by_host[saved.host]), None)) for saved in self._pages]
        console.print(scoring.table(scoring.compare(pairs), f"{len(pairs)} saved pages, stored against true"))
        return Score(
            stored=tuple(documents[0] for documents in by_host.values() if documents),
            lost=tuple(f"{saved.url(state.port)}: absent" for saved in self._pages if not by_host[saved.host]),
            duplicated=tuple(extra["url"] for documents in by_host.values() for extra in documents[1:]),
        )
