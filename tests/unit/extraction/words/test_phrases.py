from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.extraction.words.phrases import Phrases, letters
from crawler.extraction.words.wording import LANGUAGES, Lexicon

STOCK = ("out_of_stock", "discontinued", "pre_order", "back_order", "in_stock")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("sold out", {"sold out"}),
        (r"(?m:^sold[.!]?$)", {"sold"}),
        (r"buy (?:it )?now", {"buy "}),
        (r"\d+ (?:left|in stock)", {"left", "in stock"}),
        (r"(?:left|\d)", set()),
        (r"add to (?:cart|bag)?", {"add to "}),
        (r"a+bcd|xyz+", {"bcd", "xyz"}),
        (r"colou?rs", {"colo"}),
        (r"abcd??efg", {"abc", "efg"}),
        (r"abc{0}d", set()),
        (r"\+ ?basket", {"basket"}),
        (r"(?!not)bar\b", {"bar"}),
        (r"(?i:shop)", set()),
        (r"no|[áa]vailable", set()),
        ("有货", {"有货"}),
        ("货", set()),
        ("", set()),
    ],
)
def test_letters_that_each_match_has(pattern: str, expected: set[str]) -> None:
    found = letters(pattern)
    assert found <= expected
    assert bool(found) is bool(expected)


def test_a_text_is_found_whatever_stands_in_those_before_it() -> None:
    phrases = Phrases(["sold out", r"\d left", r"(?m:^gone[.!]?$)"])
    texts = [
        "sold",
        "out",
        "it is sold out, sold out",
        "3",
        "3 left",
        "",
        "long gone",
        "gone!",
        "gone\nnow",
        "unsold outfit",
    ]
    assert phrases.among(texts) == [2, 4, 6, 7, 8, 9]
    assert phrases.among([]) == []
    assert phrases.among([""]) == []


WORDS = st.sampled_from(
    """sold out in stock 0 5 left available not no . ! : , buy now add to cart • ausverkauft auf lager nicht verfügbar
    kaufen in den warenkorb på lager køb læg i kurven épuisé en stock ajouter au panier vendu""".replace(
        "\n", " "
    ).split()
).map(lambda word: word.replace("•", "\n"))


LEXICON = Lexicon(("en", "de", "da", "fr"))


@given(st.lists(st.lists(WORDS, max_size=5).map(" ".join), max_size=12))
def test_no_text_that_matches_is_left_out(texts: list[str]) -> None:
    patterns = [getattr(LEXICON, kind) for kind in STOCK]
    stated = {at for at, text in enumerate(texts) if any(pattern.search(text) for pattern in patterns)}
    assert stated <= set(LEXICON.of_stock.among(texts))
    buying = {at for at, text in enumerate(texts) if LEXICON.buy.search(text)}
    assert buying <= set(LEXICON.of_buying.among(texts))


def test_few_phrases_of_a_language_need_their_pattern() -> None:
    for language in sorted(LANGUAGES):
        lexicon = Lexicon((language,))
        for phrases in (lexicon.of_stock, lexicon.of_buying):
            others = phrases._others
            assert others is None or len(others.pattern) < 60, language
            assert all(phrases.among(["", f"x {run} y"]) == [1] for run in phrases._letters), language
