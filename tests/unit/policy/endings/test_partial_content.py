"""206 to a request for the page: whether that is all of it."""

from __future__ import annotations

import pytest

from crawler.policy.endings.partial_content import part


@pytest.mark.parametrize("told", ["bytes 0-9/10", "Bytes  0-0/1", " bytes 0-9999/10000 "])
def test_all_of_it_is_the_page(told: str) -> None:
    assert part(told) == ""


@pytest.mark.parametrize(
    "told",
    ["bytes 0-9/11", "bytes 1-9/10", "bytes 0-9/*", "bytes */10", "0-9/10", "items 0-9/10", "bytes 0-" + "9" * 200],
)
def test_the_rest_is_a_part(told: str) -> None:
    assert part(told) == f"a part of it (Content-Range: {told[:100]!r})"


def test_without_a_range_nobody_knows() -> None:
    assert part("") == "a part of it, without saying which (no Content-Range)"
