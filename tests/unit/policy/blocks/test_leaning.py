"""Refusals that no known words give away, and the short pages that share words with them."""

from __future__ import annotations

import pytest

from crawler.policy.blocks import detect
from crawler.policy.blocks.stems import Stems
from crawler.policy.blocks.vendors import FAMILIES, WEIGHTS, saying
from tests.effort import cpu_seconds
from tests.unit.policy.blocks import designs, limits_and_rights, other_matters, own_words, told_about
from tests.unit.policy.blocks.block_pages import Answer, page

TABLES = (own_words, limits_and_rights, designs, told_about, other_matters)
STEMS = Stems({"robot": ["robot", "bot~", "机器人"], "limit": ["limit", "bo"]})


def test_a_refusal_in_its_own_words_is_known() -> None:
    refusals = [one for module in TABLES for one in module.REFUSALS]
    assert [one.name for one in refusals if detect(one.status, {}, one.body.encode(), "") is None] == []


def test_a_short_page_with_such_words_is_none() -> None:
    pages = [one for module in TABLES for one in module.PAGES]
    assert {one.name: block for one in pages if (block := detect(200, {}, one.body.encode(), ""))} == {}


@pytest.mark.parametrize("answer", told_about.FAULTY_PAGES, ids=lambda answer: answer.name)
def test_a_server_that_knows_no_better_refuses_nobody(answer: Answer) -> None:
    assert detect(answer.status, {}, answer.body.encode(), "") is None


@pytest.mark.parametrize("answer", designs.SERVED, ids=lambda answer: answer.name)
def test_a_servers_own_error_is_none_of_the_sites_pages_in_any_language(answer: Answer) -> None:
    block = detect(answer.status, {}, answer.body.encode(), "")
    assert block is not None
    assert block.vendor == answer.vendor


def test_what_a_server_says_in_its_own_status_is_a_refusal_unless_it_is_in_english() -> None:
    german = page("HTTP Status 403 – Verboten", "<p>Der Server hat die Anfrage verstanden, verbietet aber alles.</p>")
    english = page("HTTP Status 403 – Forbidden", "<p>The server understood the request but refuses it, and stops.</p>")
    right = page("Fehler 403: Zugriff verboten", "<p>Sie haben keine Berechtigung, auf den Server zuzugreifen.</p>")
    assert detect(403, {}, german.encode(), "") is not None
    assert detect(403, {}, right.encode(), "") is not None
    assert detect(403, {}, english.encode(), "") is None


def test_work_is_no_bot_in_languages_that_spell_it_so() -> None:
    assert saying("похоже, работа над вашим заказом закончена") is None
    assert saying("похоже, ваш запрос прислал бот") is not None


def test_what_stands_below_another_heading_is_not_part_of_a_refusal() -> None:
    """A shop goes on with its offers below it."""
    refusal = "<h1>One second</h1><p>Your connection asks for more pages than people read. Tick the box to go on.</p>"
    offers = "<h2>Offers</h2><p>Lamps from $20, free delivery, thousands of reviews.</p>"
    assert detect(200, {}, page("Lamps", refusal + offers).encode(), "") is not None
    assert detect(200, {}, page("Lamps", offers + refusal).encode(), "") is None


def test_a_page_has_the_last_word_on_known_phrases() -> None:
    """Words of a refusal in what is a list, shows code and quotes: a manual."""
    manual = (
        "<h1>Errors</h1><ul><li>403 access denied: your plan lacks it.</li><li>429 too many requests: wait.</li></ul>"
    )
    assert detect(200, {}, page("Errors: the API", manual + "<pre>GET /lamps</pre>").encode(), "") is None


@pytest.mark.parametrize(
    ("text", "families"),
    [
        ("no robots here", {"robot"}),
        ("a bot.", {"robot", "limit"}),
        ("a bottle", {"limit"}),
        ("about unlimited lamps", set()),
        ("您不是机器人吗", {"robot"}),
        ("bot입니다", {"robot", "limit"}),
        ("", set()),
    ],
)
def test_a_stem_stands_at_the_beginning_of_a_word(text: str, families: set[str]) -> None:
    assert STEMS.families_in(text) == families


def test_every_weight_is_of_a_family_that_is_there() -> None:
    weighed = {
        *WEIGHTS["text"],
        *WEIGHTS["headline"],
        *(name for pair in WEIGHTS["pairs"] for name in pair.split(" & ")),
    }
    assert weighed <= FAMILIES.names


@pytest.mark.parametrize("piece", ["1a", "a1-", "<h1>", "<h2>a", '"a b', "robot ", "拖动", "<label", "<input>", "1-"])
@pytest.mark.parametrize("size", [1_400, 30_000, 65_000])
def test_it_takes_linear_time(piece: str, size: int) -> None:
    bomb = ("<h1>Your connection</h1>" + piece * (size // len(piece))).encode()
    assert cpu_seconds(lambda: detect(403, {}, bomb, ""), 0.05) < 0.05
