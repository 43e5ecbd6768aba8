"""One of several worker processes that observe the same products: `python -m ... URI DATABASE SECONDS_AGO`.

Prints every observation as `url milliseconds price` before storing it; the price follows from the time alone.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from datetime import UTC, datetime
from decimal import Decimal

from crawler.items import ProductItem
from crawler.storage.config import StorageConfig
from crawler.storage.connection import connect, database
from crawler.storage.outage import Outage
from crawler.storage.writer import Writer
from tests.integration.storage.observing import RecordedStats

URLS = [f"http://shop.example/p/{n}" for n in range(5)]
OBSERVATIONS = 60


def price(milliseconds: int) -> int:
    """Changes every 20 ms, so that workers often agree and often do not."""
    return milliseconds // 20 % 7


async def main(uri: str, name: str, seconds_ago: str) -> None:
    settings = {
        "MONGODB_URI": uri,
        "MONGODB_DATABASE": name,
        "STORAGE_CONNECT_SECONDS": 10,
        "STORAGE_REPLY_SECONDS": 30,
    }
    stats = RecordedStats()
    client = connect(settings)
    writer = Writer(database(client, settings), StorageConfig(batch_ms=5), Outage(stats, "here", 1), stats)
    await writer.open()

    async def observe() -> None:
        milliseconds = time.time_ns() // 1_000_000 - int(float(seconds_ago) * 1000)
        url = random.choice(URLS)
        print(url, milliseconds, price(milliseconds), flush=True)
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
        await writer.store(ProductItem(url=url, title="Knife", price=Decimal(price(milliseconds)), fetched_at=moment))

    observers = []
    for _ in range(OBSERVATIONS):
        observers.append(asyncio.create_task(observe()))
        await asyncio.sleep(random.expovariate(100))
    await asyncio.gather(*observers)
    await writer.close()
    await client.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
