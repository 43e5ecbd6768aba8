"""Many texts looked for at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.policy.signs import Signs

TEXTS = st.text(alphabet="ab.$|é", max_size=6)


@given(st.lists(TEXTS.filter(bool), max_size=4), TEXTS)
def test_it_finds_what_is_there_and_nothing_else(signs: list[str], where: str) -> None:
    expected = any(sign in where for sign in signs)
    assert Signs(signs).any_in(where) is expected
    assert Signs(signs).any_in(b"\xff" + where.encode() + b"\xc3") is expected


def test_no_sign_is_nowhere_and_half_a_character_hides_none() -> None:
    assert not Signs().any_in("")
    assert Signs(["robot"]).any_in("\udc80robot")
