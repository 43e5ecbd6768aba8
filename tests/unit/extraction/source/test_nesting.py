"""Whatever nests, and whatever only seems to end it, a page ends before its depth takes time."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.extraction.source.nesting import MAX_DEPTH, bounded
from tests.unit.extraction.bombs import NESTING

SIZE: Final = 300_000
TAGS: Final = 50_000
TAGS_TRIED: Final = """<q> </q> <li> </li> <p> </p> <div> </div> <h1> </h2> <svg> <g> </g> <path/> <desc> <math><mi>
    <form> </form> <table> <td> </td> <caption> </caption> <select> </select> <button> <a> <textarea></q></textarea>
    <!--</div>--> <![CDATA[</g>]]> </nav> x"""
PIECES: Final = st.sampled_from(TAGS_TRIED.split())


def depth(page: bytes) -> int:
    deepest, elements = 0, LexborHTMLParser(page).css("*")
    for element in elements[:: len(elements) // 100 + 1]:
        around, parent = 0, element.parent
        while parent is not None:
            around, parent = around + 1, parent.parent
        deepest = max(deepest, around)
    return deepest


@pytest.mark.parametrize("name", NESTING)
def test_what_seems_to_end_an_element_ends_none(name: str) -> None:
    page = NESTING[name](SIZE).encode()
    assert len(bounded(page, TAGS)) < SIZE / 2


def test_a_piece_may_begin_in_a_select_which_the_next_one_ends() -> None:
    page = b"<q>" + b"<q><select></q><select>" * (SIZE // 23)
    assert depth(bounded(page, TAGS)) <= 3 * MAX_DEPTH


@given(st.lists(PIECES, min_size=1, max_size=3), st.lists(PIECES, min_size=1, max_size=6))
def test_no_repetition_of_tags_nests_too_deeply(begin: list[str], again: list[str]) -> None:
    unit = "".join(again)
    page = ("".join(begin) + unit * (SIZE // len(unit))).encode()
    assert depth(bounded(page, TAGS)) <= 5 * MAX_DEPTH  # pieces tell it to a factor or so, and it may reach 60,000


def test_a_page_of_many_elements_is_left_as_it_is() -> None:
    card = b"<div><span><p>A lamp<ul><li>of <i>steel</i><li>48.00</ul></div><svg><path d=x><circle /></svg><br>"
    page = b"<html><body><main>" + card * 12_000
    assert bounded(page, 12 * 12_000) is page


def test_a_page_with_a_drawing_of_many_shapes_is_left_as_it_is() -> None:
    shapes = b"<g class='a'>" + b"<path id='c' d='M0 1'/><circle r=1 />" * 10_000 + b"</g>"
    page = b"<p>text</p><svg viewBox='0 0 9 9'><title>A map</title>" + shapes + b"</svg><p>text</p>"
    assert bounded(page, TAGS) is page
