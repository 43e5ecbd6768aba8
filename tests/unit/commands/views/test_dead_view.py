"""What `scrapy dead list` prints: a line for each letter, with its whole URL at the end."""

from __future__ import annotations

from dataclasses import replace

from crawler.commands.views.dead_view import listed
from crawler.frontier.messages import DeadLetter

URL = f"https://shop.example/{'path/' * 30}"
LETTER = DeadLetter(
    "0:47", "products", "shop.example", "download_error", 1_795_462_945_000, 1, 0, "w1", b"", 1, "1",
    {"url": URL, "error": "AddressRefusedError"},
)  # fmt: skip


def test_each_letter_is_a_line_that_ends_with_its_whole_url() -> None:
    head, first, second = listed([LETTER, replace(LETTER, id="12:1234", reason="http_503")])
    assert first == f"0:47     2026-11-23 19:42:25  download_error  {URL}"
    assert second == f"12:1234  2026-11-23 19:42:25  http_503        {URL}"
    assert head.index("url") == first.index(URL)


def test_all_but_the_url_fits_half_a_terminal() -> None:
    _, line = listed([replace(LETTER, reason="robots_unreachable")])
    assert line.index(URL) <= 50


def test_without_a_url_the_error_stands_there_on_one_line() -> None:
    seed = replace(LETTER, host="", detail={"error": "no JSON:\n\x1b[2J at char 0"})
    *_, line = listed([seed])
    assert line.endswith("  no JSON:  [2J at char 0")


def test_a_block_page_is_listed_with_who_blocked() -> None:
    blocked = replace(LETTER, reason="blocked", detail={"url": URL, "error": "legal; no worker serves browser"})
    head, first, second = listed([LETTER, blocked])
    assert second == f"0:47  2026-11-23 19:42:25  blocked         legal       {URL}"
    assert head.index("blocked by") == second.index("legal")
    assert head.index("url") == first.index(URL) == second.index(URL)
