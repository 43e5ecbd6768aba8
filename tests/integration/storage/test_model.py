"""Any sequence of observations leaves what a plain model of the rules says."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.items import ProductItem
from crawler.storage.connection import Database
from crawler.storage.items.repository import StoreResult
from crawler.storage.reading import reader
from crawler.storage.writer import Writer
from tests.integration.storage.observing import seen

EXAMPLES = itertools.count()
CONTENT = ("title", "price", "brand", "rating")

observations = st.builds(
    lambda second, price, **fields: (second, price, fields),
    second=st.integers(0, 12),
    price=st.sampled_from([None, "1", "1.0", "2", "-0", "0"]),
    title=st.sampled_from(["a", "b", "$title", ""]),
    brand=st.sampled_from([None, "Ä", "A"]),
    rating=st.sampled_from([None, 4.5]),
    source=st.fixed_dictionaries({"request_id": st.text("ab", max_size=1)}),
)


@dataclass
class Model:
    """One product, as the rules read."""

    state: dict[str, Any] = field(default_factory=dict)
    records: list[dict[str, Any]] = field(default_factory=list)
    results: list[StoreResult] = field(default_factory=list)

    def observe(self, item: ProductItem) -> None:
        content = {name: getattr(item, name) for name in CONTENT}
        state = self.state
        if not state:
            self._replace(item, content, version=1, first=item.fetched_at)
            self.results.append(StoreResult.NEW)
        elif item.fetched_at == state["fetched_at"] == state["last_seen_at"] and content == state["content"]:
            self.results.append(StoreResult.NEW if state["version"] == 1 else StoreResult.CHANGED)  # the same again
        elif item.fetched_at == state["last_seen_at"] and content == state["content"]:
            self.results.append(StoreResult.UNCHANGED)
        elif item.fetched_at <= state["last_seen_at"]:
            self.results.append(StoreResult.STALE)
        elif content == state["content"]:
            state["last_seen_at"] = item.fetched_at
            self.results.append(StoreResult.UNCHANGED)
        else:
            old = state["content"]
            changes = {n: {"old": old[n], "new": content[n]} for n in CONTENT if old[n] != content[n]}
            self.records.append({"version": state["version"] + 1, "at": item.fetched_at, "changes": changes})
            self._replace(item, content, version=state["version"] + 1, first=state["first_seen_at"])
            self.results.append(StoreResult.CHANGED)

    def _replace(self, item: ProductItem, content: dict[str, Any], version: int, first: Any) -> None:
        self.state = {
            "content": content,
            "version": version,
            "source": item.source,
            "first_seen_at": first,
            **dict.fromkeys(("fetched_at", "last_seen_at", "last_changed_at"), item.fetched_at),
        }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sequence=st.lists(observations, min_size=1, max_size=8), at_once=st.booleans())
async def test_any_sequence_agrees_with_the_model(
    writer: Writer, database: Database, sequence: list[Any], at_once: bool
) -> None:
    url = f"http://shop.example/example/{next(EXAMPLES)}"
    items = [seen(second, price, url=url, **fields) for second, price, fields in sequence]
    model = Model()
    for item in items:
        model.observe(item)
    if at_once:
        results = await asyncio.gather(*map(writer.store, items))
    else:
        results = [await writer.store(item) for item in items]

    assert results == model.results
    stored = await database.products.find_one({"_id": url})
    assert stored is not None
    content = {name: plain(stored[name]) for name in CONTENT}
    assert {**{name: stored[name] for name in model.state if name != "content"}, "content": content} == model.state
    records = [record async for record in reader.changes(database, "product_changes", url)]
    assert [{name: record[name] for name in ("version", "at", "changes")} for record in records] == model.records
    assert "pending_changes" not in stored


def plain(value: Any) -> Any:
    return value.to_decimal() if hasattr(value, "to_decimal") else value
