"""A worker process that meets a dead mongod: `python -m ... URI leave|full`.

It prints `open`, waits for SIGUSR1, and prints each URL once its item is safe.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys

from crawler.storage import connection, writer_setup
from crawler.storage.config import StorageConfig
from tests.integration.storage.observing import RecordedStats, seen

LIMIT_BYTES = 64 * 1024
COUNTS = {"leave": 50, "full": 300}


async def main(uri: str, how: str) -> None:
    if how == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_BYTES, LIMIT_BYTES))
    settings = {"MONGODB_URI": uri, "MONGODB_DATABASE": "spool", "STORAGE_CONNECT_SECONDS": 2}
    settings |= {"STORAGE_REPLY_SECONDS": 20, "STORAGE_RETRY_MAX_SECONDS": 15}
    spool_dir = os.environ["SPOOL_DIR"]
    config = StorageConfig(batch_ms=5, batch_size=20, retry_max_seconds=0.2, spool_dir=spool_dir)
    client = connection.connect(settings)
    writer = writer_setup.writer(client, settings, config, RecordedStats(), lambda reason: None)
    go = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, go.set)
    await writer.open()
    os.write(1, b"open\n")
    await go.wait()

    async def store(url: str) -> None:
        await writer.store(seen(1, url=url, description="x" * 400))
        os.write(1, f"{url}\n".encode())

    await asyncio.gather(*(store(f"http://shop.example/p/{n}") for n in range(COUNTS[how])))
    if how == "leave":
        os.kill(os.getpid(), signal.SIGKILL)
    await writer.close()
    await client.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
