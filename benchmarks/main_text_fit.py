"""Learns the weights of extraction/content/main_text.py from labelled pages: a logistic regression, in plain Python."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import tldextract

import crawler.extraction.content
from crawler.extraction import Document
from crawler.extraction.content.features import FEATURES, features_of
from crawler.extraction.content.page import kind_and_passages
from crawler.extraction.content.passages import Passage
from crawler.extraction.words.counting import WORD

ROUNDS: Final = 12  # at most
ENOUGH: Final = 0.01  # a step that moves no weight farther is the last
SHRINK: Final = 0.00001  # L2, for each example of weight one
HEAVIEST: Final = 20.0  # an example counts at most so many times the mean
FEW_WORDS: Final = 60
LEAST_IN_PART: Final = 8  # words of a passage of which half may stand in the text
LEAST_OF_POST: Final = 6  # the same in a forum, where a post's number stands behind its author and date
# Learned last, from forums; not what weighs against cards, or software that calls its posts items would lose them.
OF_POSTS: Final = [at for at, name in enumerate(FEATURES) if name.startswith("post-") and name != "post-card"]

Row = dict[int, float]
Data = list[tuple[Row, bool, float]]


class Examples(NamedTuple):
    """Of one page: its kind, and for each passage its features, whether it is main text, and its share of the page.

    `posts` are the same of a forum's page, where authors and dates of posts are main text, too.
    """

    kind: str
    rows: Data
    posts: Data


def site(url: str) -> str:
    """The registrable domain, without asking the network for the list of suffixes."""
    host = urlsplit(url).hostname or ""
    return tldextract.TLDExtract(suffix_list_urls=())(host).domain


def examples(html: bytes, url: str, kind: str, text: str) -> Examples:
    """Those of one page whose main text is *text*."""
    guessed, found = kind_and_passages(Document(html, url))
    total = max(FEW_WORDS, sum(each.words for each in found))
    features = features_of(found, guessed)

    def data(least: int) -> Data:
        labels = labelled(found, text, least)
        return [(row, label, each.words / total) for row, label, each in zip(features, labels, found, strict=True)]

    return Examples(kind, data(LEAST_IN_PART), data(LEAST_OF_POST) if guessed == "forum" else [])


def labelled(found: Sequence[Passage], text: str, least: int = LEAST_IN_PART) -> list[bool]:
    """Whether each passage stands in *text*, no word of which counts twice; of *least* words half of it will do."""
    true = WORD.findall(text.lower())
    whole = f" {' '.join(true)} "
    runs = set(zip(true, true[1:], true[2:], true[3:], strict=False))
    left = Counter(true)
    labels = []
    for each in found:
        words = WORD.findall(each.text.lower())
        stands = f" {' '.join(words)} " in whole
        if not stands and len(words) >= least:
            own = list(zip(words, words[1:], words[2:], words[3:], strict=False))
            stands = sum(run in runs for run in own) > len(own) / 2
        bag = Counter(words)
        stands = stands and (bag & left).total() >= len(words) / 2
        if stands:
            left -= bag
        labels.append(stands)
    return labels


def fit(pages: Sequence[Examples]) -> dict[str, float]:
    """A weight by feature: each kind of page counts the same, each passage by its words.

    What is of forums alone is learned again last, from their posts, so that these change no other page's text.
    """
    kinds = Counter(page.kind for page in pages)
    data = [(row, label, share / kinds[page.kind]) for page in pages for row, label, share in page.rows]
    weights = _learned(data, [0.0] * len(FEATURES), range(len(FEATURES)))
    posts = [each for page in pages for each in page.posts]
    weights = _learned(posts, weights, OF_POSTS if posts else ())
    return dict(zip(FEATURES, weights, strict=True))


def _learned(data: Data, weights: list[float], free: Sequence[int]) -> list[float]:
    """*weights* with the best ones at the places *free*.

    By Newton's method, which ends at the best weights; some steps along the slope alone end .01 lower on other sites.
    """
    unit = sum(weight for _, _, weight in data) / max(1, len(data))
    shrink = SHRINK * len(data)
    weights, place = list(weights), {at: order for order, at in enumerate(free)}
    rows = [
        (row, sorted((place[at], row[at]) for at in row.keys() & place), label, min(weight / unit, HEAVIEST))
        for row, label, weight in data
    ]
    for _ in range(ROUNDS):
        slope = [shrink * weights[at] for at in free]
        curve = [[shrink * (at == other) for other in range(len(free))] for at in range(len(free))]
        for row, moved, label, weight in rows:
            total = sum(weights[at] * value for at, value in row.items())
            chance = 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
            error, bend = weight * (chance - label), weight * chance * (1 - chance)
            for index, (at, value) in enumerate(moved):
                slope[at] += error * value
                line, scaled = curve[at], bend * value
                for other, factor in moved[index:]:
                    line[other] += scaled * factor
        steps = _solved(curve, slope)
        for at, step in zip(free, steps, strict=True):
            weights[at] -= step
        if max(map(abs, steps), default=0.0) < ENOUGH:
            break
    return weights


def _solved(curve: list[list[float]], slope: list[float]) -> list[float]:
    """The x of curve x = slope, of a symmetric positive matrix whose upper half is given."""
    rows = [
        [*(curve[min(at, other)][max(at, other)] for other in range(len(slope))), slope[at]] for at in range(len(slope))
    ]
    for at, row in enumerate(rows):
        for below in rows[at + 1 :]:
            factor = below[at] / row[at]
            if factor:
                below[at:] = [one - factor * other for one, other in zip(below[at:], row[at:], strict=True)]
    found = [0.0] * len(rows)
    for at in range(len(rows) - 1, -1, -1):
        row = rows[at]
        found[at] = (row[-1] - sum(map(float.__mul__, row[at + 1 : -1], found[at + 1 :]))) / row[at]
    return found


def write(pages: Sequence[Examples]) -> None:
    """Put the weights of *pages* into reading.toml."""
    path = Path(crawler.extraction.content.__file__).with_name("reading.toml")
    kept = re.split(r"(?m)^\[weights\]$", path.read_text(encoding="utf-8"))[0]
    lines = "".join(f'"{feature}" = {weight:.3f}\n' for feature, weight in fit(pages).items())
    path.write_text(f"{kept}[weights]\n{lines}", encoding="utf-8")
