"""When a worker wrote its requests, by its own clock: behind a busy proxy its site sees them late."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler.handlers.http.handler import HttpDownloadHandler
from crawler.handlers.wire_turn import WireTurn
from crawler.meta import WIRE_TURN


class NotingHandler(HttpDownloadHandler):
    """Appends the moment of each write to the file SENT_FILE."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._file = Path(crawler.settings["SENT_FILE"])

    async def download_request(self, request: Request) -> Response:
        """As HttpDownloadHandler."""
        turn: WireTurn = request.meta[WIRE_TURN]
        request.meta[WIRE_TURN] = replace(turn, sent=lambda *ago: self._note(turn, *ago))
        return await super().download_request(request)

    def _note(self, turn: WireTurn, *ago: float) -> None:
        at = monotonic()  # before the worker counts from it: however busy the machine, no gap is measured too short
        turn.sent(*ago)
        with self._file.open("a") as file:
            file.write(f"{at}\n")


def noting(file: Path) -> dict[str, Any]:
    """Settings of a worker whose requests are noted in *file*."""
    return {"DOWNLOAD_HANDLERS": {"http": f"{__name__}.{NotingHandler.__name__}"}, "SENT_FILE": str(file)}


def gaps(file: Path) -> list[float]:
    """Seconds between consecutive requests noted in *file*."""
    return [after - before for before, after in pairwise(map(float, file.read_text().split()))]
