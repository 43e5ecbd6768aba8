"""How main text is scored, and that weights are learned from what is labelled."""

from __future__ import annotations

import pytest

from benchmarks.main_text import f1, words
from benchmarks.main_text_fit import OF_POSTS, examples, fit, labelled, site
from crawler.extraction import Document
from crawler.extraction.content.features import FEATURES
from crawler.extraction.content.walk import passages

TEXT = "The text of page {} has some words that stand nowhere else, and a dot."
QUESTION = '<script type="application/ld+json">{"@type": "QAPage"}</script>'
PAGE = "<nav><a href=/>The menu of the site has words, too</a></nav><main><p>{}</p></main>"


@pytest.mark.parametrize(
    ("found", "true", "score"),
    [("a b", "b a", 1.0), ("a a", "a", 2 / 3), ("", "", 1.0), ("a", "", 0.0), ("A.", "a!", 1.0)],
)
def test_word_f1(found: str, true: str, score: float) -> None:
    assert f1(words(found), words(true)) == pytest.approx(score)


def test_no_word_of_the_truth_counts_twice() -> None:
    found = passages(Document("<p>One two three</p><p>four</p><p>One two three</p>", "https://a.example/"))
    assert labelled(found, "One two three. Five.") == [True, False, False]


def test_weights_tell_what_labels_tell() -> None:
    pages = []
    for n in range(8):
        text = TEXT.format(n)
        pages.append(examples(PAGE.format(text).encode(), f"https://{n}.example/", "article", text))
    weights = fit(pages)
    assert set(weights) == set(FEATURES)
    assert weights["in main"] > 0 > weights["in nav"]
    assert fit(pages) == weights


def thread(answer: str) -> str:
    return f"<head>{QUESTION}</head><p>ann March 4, 2024, 6:28am 1</p><p>{answer}</p><dl><dt>Posts</dt></dl>"


def test_the_head_of_a_post_is_main_text_without_its_number() -> None:
    text = TEXT.format(1)
    page = examples(thread(text).encode(), "https://a.example/", "forum", f"ann\nMarch 4, 2024, 6:28am\n{text}")
    assert [label for _, label, _ in page.posts] == [True, True, False]
    assert [label for _, label, _ in page.rows] == [False, True, False]


def test_what_is_learned_of_posts_changes_no_other_page() -> None:
    text = TEXT.format(1)
    page = examples(thread(text).encode(), "https://a.example/", "forum", f"ann\nMarch 4, 2024, 6:28am\n{text}")
    with_posts, without = fit([page]), fit([page._replace(posts=[])])
    assert with_posts["post-date"] > without["post-date"]
    assert {name for name in FEATURES if with_posts[name] != without[name]} <= {FEATURES[at] for at in OF_POSTS}


def test_sites() -> None:
    assert site("https://www.shop.co.uk/a") == site("http://m.shop.com") == "shop"
