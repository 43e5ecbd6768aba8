"""What a terminal is shown of a page."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest

from crawler.commands.views.dead_page import show
from crawler.storage.archive.reader import Stored
from crawler.storage.archive.records import Page

BODY = b"<p>\x1b]0;owned\x07caf\xc3\xa9\t\n\xff</p>\x9b31m"


@pytest.mark.parametrize(
    ("to_terminal", "shown"), [(False, BODY), (True, "<p>]0;ownedcafé\t\n\ufffd</p>\ufffd31m".encode())]
)
def test_a_file_gets_the_bytes_and_a_terminal_no_control_characters(
    capsys: pytest.CaptureFixture[str], to_terminal: bool, shown: bytes
) -> None:
    out = io.BytesIO()
    headers = [("X-Odd", "a\x1b[2Jb")]
    at = datetime(2026, 1, 2, tzinfo=UTC)
    page = Page(url="https://shop.example/1", status=200, headers=headers, body=BODY, fetched_at=at)
    show(Stored({}, page), out, to_terminal=to_terminal)
    assert out.getvalue() == shown
    said = capsys.readouterr().err
    assert said.startswith("https://shop.example/1\n200, fetched 2026-01-02 00:00:00 UTC by a worker\nX-Odd: a[2Jb\n")
