"""Many texts looked for at once."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from hypothesis import given
from hypothesis import strategies as st

from crawler.policy.blocks.signs import MOST_SENTENCES, PARTED_BYTES, Phrasings, Signs

TEXTS = st.text(alphabet="ab.$|é", max_size=6)


@given(st.lists(TEXTS.filter(bool), max_size=4), TEXTS)
def test_it_finds_what_is_there_and_nothing_else(signs: list[str], where: str) -> None:
    expected = any(sign in where for sign in signs)
    assert Signs(signs).any_in(where) is expected
    assert Signs(signs).any_in(b"\xff" + where.encode() + b"\xc3") is expected


def test_no_sign_is_nowhere_and_half_a_character_hides_none() -> None:
    assert not Signs().any_in("")
    assert Signs(["robot"]).any_in("\udc80robot")


def test_a_phrase_leaves_out_what_its_star_stands_for() -> None:
    phrases = Phrasings(["your [ip|address] * blocked", "go away"])
    assert phrases.any_in("sorry, your ip has, since noon, been blocked")
    assert phrases.any_in("your address 1.2.3.4 is blocked")  # a dot within a word ends no sentence
    assert phrases.any_in("your ip blocked")
    assert phrases.any_in("please go away\udc80")
    assert not phrases.any_in("this is your ip. drains get blocked")
    assert not phrases.any_in("blocked is your ip")
    assert not phrases.any_in("your phone is blocked")
    assert not Phrasings([]).any_in("anything")
    assert list(phrases) == ["your [ip|address] * blocked", "go away"]


def test_a_long_text_costs_no_more_than_its_start() -> None:
    phrases = Phrasings(["ip * blocked"])
    assert phrases.any_in("ip blocked" + " x" * PARTED_BYTES)
    assert not phrases.any_in("x " * PARTED_BYTES + "ip blocked")


def test_parts_of_a_phrase_may_come_in_any_order_within_a_sentence() -> None:
    phrases = Phrasings(["[your net|your ip] & [blocked|banned]", "robot & sure & not"])
    assert phrases.any_in("blocked: your ip")
    assert phrases.any_in("your net 1.2.3.4 was banned")
    assert not phrases.any_in("this is your ip. drains get blocked")
    assert phrases.any_in("are you a robot? we are not yet sure")  # three parts: two sentences
    assert not phrases.any_in("a robot. a lamp. we are not sure")
    assert not phrases.any_in("x " * PARTED_BYTES + "your ip is blocked")


def test_a_phrase_is_sought_in_a_bounded_number_of_sentences() -> None:
    assert not Phrasings(["ip & blocked"]).any_in("ip. " * MOST_SENTENCES + "blocked. ip blocked")


def test_no_word_of_a_class_is_part_of_another() -> None:
    """The shorter one finds all that the longer one would."""
    tables = tomllib.loads((files("crawler.policy.blocks") / "blocks.toml").read_text("utf-8"))
    classes = {name: words for name, words in tables["classes"].items() if name != "goon"}  # it is sought at a start
    twice = [(one, name) for name, words in classes.items() for one in words if sum(word in one for word in words) > 1]
    assert twice == []
