"""Eight worker processes on the same products, one frozen for a while and one that replays the past."""

from __future__ import annotations

import os
from contextlib import closing
from itertools import pairwise

from crawler.storage.connection import Database
from crawler.storage.reading import reader
from tests.effort import PATIENCE
from tests.integration.storage.racing import URLS
from tests.zygote import PROJECT_DIR, Zygote


def race(zygote: Zygote, uri: str, name: str) -> dict[str, dict[int, int]]:
    """Run the workers; the observations of each URL: milliseconds -> price."""
    module = "tests.integration.storage.racing"
    with closing(zygote.fork([uri, name], os.environ, PROJECT_DIR, module=module)) as process:
        told, log = process.communicate(PATIENCE)
        assert process.returncode == 0, log
    seen: dict[str, dict[int, int]] = {url: {} for url in URLS}
    for line in told.splitlines():
        url, milliseconds, price = line.split()
        seen[url][int(milliseconds)] = int(price)
    return seen


async def test_one_document_one_version_per_change_and_never_an_older_state(
    database: Database, mongodb_uri: str, zygote: Zygote
) -> None:
    seen = race(zygote, mongodb_uri, database.name)

    stored = {each["_id"]: each async for each in reader.documents(database, "products")}
    assert set(stored) == {url for url, observations in seen.items() if observations}
    for url, state in stored.items():
        newest = max(seen[url])
        assert state["price"] == seen[url][newest]
        assert int(state["last_seen_at"].timestamp() * 1000 + 0.5) == newest

        records = [record async for record in reader.changes(database, "product_changes", url)]
        assert [record["version"] for record in records] == [*range(2, state["version"] + 1)]
        assert all(before["at"] < after["at"] for before, after in pairwise(records))
        prices = [record["changes"]["price"] for record in records]
        assert all(change["old"] != change["new"] for change in prices)
        assert all(before["new"] == after["old"] for before, after in pairwise(prices))
        assert prices[-1]["new"] == state["price"]
    assert sum(state["version"] for state in stored.values()) > 5 * len(URLS)
    assert await database.products.count_documents({"pending_changes": {"$exists": True}}) == 0
