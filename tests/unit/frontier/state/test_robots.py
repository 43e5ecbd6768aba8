"""How the text of a robots.txt is stored."""

from __future__ import annotations

import zlib

from hypothesis import example, given
from hypothesis import strategies as st

from crawler.frontier.state.robots import SMALL, packed

LINE = b"Disallow: /private\n"


@given(st.binary(max_size=500))
@example(b"")
@example(LINE * (SMALL // len(LINE)))
@example(LINE * (SMALL // len(LINE) + 1))
@example(LINE * 20_000)
def test_any_worker_can_read_it(text: bytes) -> None:
    assert zlib.decompress(packed(text)) == text


def test_it_is_as_short_as_with_the_usual_memory() -> None:
    text = b"".join(b"Disallow: /%d/\n" % (number * 7_919) for number in range(200))
    assert len(text) < SMALL
    assert len(packed(text)) < 1.05 * len(zlib.compress(text))
