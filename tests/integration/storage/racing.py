"""Eight worker processes that observe the same products: `python -m ... URI DATABASE`.

One is frozen for a while, and one replays what it saw an hour ago. Each prints its observations as `url
milliseconds price` before it stores them; the price follows from the time alone.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import time
from datetime import UTC, datetime
from decimal import Decimal

from crawler.items import ProductItem
from crawler.storage.connection import connect, database
from tests.integration.storage.observing import RecordedStats, a_writer

URLS = [f"http://shop.example/p/{n}" for n in range(5)]
AGES = [0] * 7 + [3_600_000]  # milliseconds between an observation and its storing, one worker each
OBSERVATIONS = 100
FROZEN_SECONDS = 3.0


def price(milliseconds: int) -> int:
    """Changes every 20 ms, so that workers often agree and often do not."""
    return milliseconds // 20 % 7


async def work(uri: str, name: str, age: int) -> None:
    settings = {
        "MONGODB_URI": uri,
        "MONGODB_DATABASE": name,
        "STORAGE_CONNECT_SECONDS": 10,
        "STORAGE_REPLY_SECONDS": 30,
        "STORAGE_RETRY_MAX_SECONDS": 15,
    }
    stats = RecordedStats()
    client = connect(settings)
    writer = a_writer(database(client, settings), stats, batch_ms=5)
    await writer.open()

    async def observe() -> None:
        milliseconds = time.time_ns() // 1_000_000 - age
        url = random.choice(URLS)
        os.write(1, f"{url} {milliseconds} {price(milliseconds)}\n".encode())
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
        await writer.store(ProductItem(url=url, title="Knife", price=Decimal(price(milliseconds)), fetched_at=moment))

    observers = []
    for _ in range(OBSERVATIONS):
        observers.append(asyncio.create_task(observe()))
        await asyncio.sleep(random.expovariate(100))
    await asyncio.gather(*observers)
    await writer.close()
    await client.close()


def start(uri: str, name: str, age: int) -> int:
    """Fork, because eight starts of an interpreter take longer than the race."""
    if pid := os.fork():
        return pid
    random.seed()
    asyncio.run(work(uri, name, age))
    os._exit(0)


def main(uri: str, name: str) -> int:
    workers = [start(uri, name, age) for age in AGES]
    time.sleep(0.7)
    os.kill(workers[0], signal.SIGSTOP)
    time.sleep(FROZEN_SECONDS)
    os.kill(workers[0], signal.SIGCONT)
    return sum(os.waitpid(worker, 0)[1] != 0 for worker in workers)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
