"""A server that says exactly the bytes a test gives it, and a handler to ask it with."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.statscollectors import MemoryStatsCollector

from crawler.handlers.http.handler import HttpDownloadHandler
from tests.shipped import shipped

Act = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class RawServer:
    """Answers the n-th request with the n-th of *answers*, the last for ever; an `Act` has the connection to itself.

    A connection stays open unless an answer ends with `CLOSE`. `received` lists heads with bodies as they came.
    """

    CLOSE = b"<close>"

    def __init__(
        self, *answers: bytes | Act, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        self.answers = list(answers)
        self.received: list[bytes] = []
        self.connections = 0
        self.open = 0
        self._tls = tls
        self._host = host
        self._port = port
        self._tasks: set[asyncio.Task[None]] = set()

    def url(self, path: str = "/") -> str:
        return f"{'https' if self._tls else 'http'}://{self.address}{path}"

    @property
    def address(self) -> str:
        return f"{self._host}:{self._server.sockets[0].getsockname()[1]}"

    async def closed(self, but: int = 0) -> None:
        """Return when every connection is closed, but for that many."""
        async with asyncio.timeout(60):
            while self.open > but:  # noqa: ASYNC110 - a test's own server
                await asyncio.sleep(0.005)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self._host, self._port, ssl=self._tls)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self.open += 1
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
            pass  # what some tests are about
        finally:
            self.open -= 1
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next((int(x[15:]) for x in head.split(b"\r\n") if x.lower().startswith(b"content-length:")), 0)
        self.received.append(head + await reader.readexactly(length))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not isinstance(answer, bytes):
            await answer(reader, writer)
            return False
        writer.write(answer.removesuffix(self.CLOSE))
        await writer.drain()
        return not answer.endswith(self.CLOSE)


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Says nothing until the client goes."""
    await reader.read()


class Client:
    """Our handler with the project's settings, loopback allowed, and *changed* ones."""

    def __init__(self, handler: type[Any] = HttpDownloadHandler, **changed: Any) -> None:
        settings = shipped("settings.test")
        settings.setdict({"DOWNLOAD_TIMEOUT": 6, "DOWNLOAD_VERIFY_CERTIFICATES": False} | changed, priority="cmdline")
        self.crawler = Crawler(Spider, settings)
        self.crawler.stats = MemoryStatsCollector(self.crawler)
        self.handler = handler(self.crawler)

    async def get(self, url: str, meta: Mapping[str, Any] | None = None, **kwargs: Any) -> Response:
        response: Response = await self.handler.download_request(Request(url, meta=dict(meta or {}), **kwargs))
        return response

    def stat(self, name: str) -> Any:
        assert self.crawler.stats is not None
        return self.crawler.stats.get_value(name, 0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.handler.close()
