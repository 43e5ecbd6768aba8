"""A replica set of three whose primary steps down, or is killed with -9, while four workers store pages."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from tests.crawling import Fleet
from tests.integration.test_acl import documented_role
from tests.operate.load import UNDER_LOAD, Load, Told, finished, judged, total
from tests.stores import ReplicaSet

WORKERS: Final = 4
PAGES: Final = 125  # of each host
WATCHED_SECONDS: Final = 30.0  # after the blow
Blow = Callable[[ReplicaSet], None]
BLOWS: Final[dict[str, Blow]] = {"steps down": ReplicaSet.step_down, "killed with -9": ReplicaSet.kill_primary}


async def fail_over(fleet: Fleet, name: str, *, spool: bool) -> Told:
    """One crawl on a replica set of its own."""
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        directory = Path(place)
        (directory / "set").mkdir()
        replicas = await asyncio.to_thread(ReplicaSet, directory / "set", documented_role("shoalWorker"), 3)
        stack.callback(replicas.kill)
        fleet.runner.env |= {"MONGODB_URI": replicas.uri, "MONGODB_DATABASE": "shoal"}
        load = Load(stack, pages=PAGES)
        await fleet.push(*load.roots)
        kept = str(directory / "spool") if spool else ""
        settings: dict[str, Any] = UNDER_LOAD | {"SPOOL_DIR": kept, "STORAGE_CONNECT_SECONDS": 2}
        workers = [fleet.start(**settings) for _ in range(WORKERS)]
        await load.until(len(load.urls) // 4)
        began = time.monotonic()
        await asyncio.to_thread(BLOWS[name], replicas)
        logs, wrong = await finished(workers)
        told = await asyncio.to_thread(judged, fleet, load, replicas.root_uri, strict=False)
        still = load.standstill(began, began + WATCHED_SECONDS)
    spooled, replayed = total(logs, "items/spooled"), total(logs, "storage/spool/replayed")
    told.row = {"the primary": name, "spool": "yes" if spool else "no"} | told.row
    told.row |= {"longest time without a request": f"{still:.1f} s", "items through the spool": f"{spooled:,}"}
    told.wrong += wrong + ([f"{spooled} items spooled, {replayed} stored"] if spooled != replayed else [])
    return told
