"""The object around a place in a script."""

from __future__ import annotations

import pytest

from crawler.extraction.scripts import objects


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("var a = {b: 1, c: ", "b: 1, c: "),
        ("{a: {b: 1}, c: ", "a: {b: 1}, c: "),
        ("{a: {b: 1}, c: {d: ", "d: "),
        ("{a: 1} b", "{a: 1} b"),
        ("", ""),
    ],
)
def test_what_is_open_before_a_place(before: str, inside: str) -> None:
    assert objects.opened(before) == inside


@pytest.mark.parametrize(
    ("depth", "inside"), [(0, " 1, c: {d: 2}"), (1, " 1, c: {d: 2}}, e: 3"), (2, " 1, c: {d: 2}}, e: 3} f")]
)
def test_what_is_open_behind_a_place(depth: int, inside: str) -> None:
    assert objects.closed(" 1, c: {d: 2}}, e: 3} f", depth) == inside


def test_what_is_not_in_objects_inside() -> None:
    assert objects.without_inner("a: {b: {c: {d: 1}}}, e: {f: 2}, g: 3") == "a: , e: , g: 3"
    assert objects.without_inner("{a: {b: {c: {d: {e: 1}}}}}") == "{a: }"  # five deep
