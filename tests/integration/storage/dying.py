"""A worker that writes two prices, and dies by -9 when the second is stored but not yet on record: `python -m ... URI
DATABASE`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import NoReturn

from crawler.storage.connection import connect, database
from crawler.storage.items import history
from tests.integration.storage.observing import RecordedStats, a_writer, seen

SECONDS = {"STORAGE_CONNECT_SECONDS": 20, "STORAGE_REPLY_SECONDS": 20, "STORAGE_RETRY_MAX_SECONDS": 15}


async def dies(*_: object) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


async def main(uri: str, name: str) -> None:
    settings = {"MONGODB_URI": uri, "MONGODB_DATABASE": name, **SECONDS}
    writer = a_writer(database(connect(settings), settings), RecordedStats())
    await writer.open()
    await writer.store(seen(1, "10.00"))
    history.record = dies  # type: ignore[assignment]
    await writer.store(seen(2, "9.00"))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
