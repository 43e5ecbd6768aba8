"""What an element says of its content, as bits: its tag, words in its class and id, its role, whether it is hidden."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from crawler.utils.caches import cached

READING: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("reading.toml").read_text(encoding="utf-8"))

TAGS: Final = frozenset(
    str.split(
        """
    noscript nav footer header aside main article table td th li ul ol p h1 h2 h3 h4 h5 h6 pre figcaption button
    select label dd summary dialog a fieldset
    """
    )
)
_ROLES: Final = {
    **dict.fromkeys(("navigation", "banner", "contentinfo", "search", "complementary"), "role-nav"),
    **dict.fromkeys(("menu", "menubar", "tablist"), "role-nav"),
    "alert": "role-alert",
    "main": "main",
}
_ITEMPROPS: Final = {
    **dict.fromkeys(("articleBody", "text", "reviewBody"), "prop-text"),
    "description": "prop-description",
}
_HIDDEN = re.compile(r"display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden", re.IGNORECASE)
CODE_LANGUAGE = re.compile(  # in the class of code, or of what is around it
    r"(?:^|\s)(?:lang(?:uage)?-|highlight-source-|highlight-(?=\S{1,30} notranslate)|brush:\s{0,9})"
    r"(?!(?:default|none|tabs?)\b|block|box|content|menu|pick|select|switch)([\w+#.-]{1,30})",
    re.ASCII,
)
_NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

NAMES: Final = (*sorted(TAGS), *READING["names"], "hidden", "role-nav", "role-alert", "prop-text", "prop-description")
BITS: Final[Mapping[str, int]] = {name: 1 << at for at, name in enumerate(NAMES)}
_OF_ROLES: Final = {
    **{role: BITS[name] for role, name in _ROLES.items()},
    **dict.fromkeys(("dialog", "alertdialog"), BITS["role-alert"] | BITS["dialog"]),
}
_OF_ITEMPROPS: Final = {prop: BITS[name] for prop, name in _ITEMPROPS.items()}
_STEMS: Final = {stem: BITS[name] for name, stems in READING["stems"].items() for stem in stems.split()}
_SHORTEST_STEM: Final = min(map(len, _STEMS))
_GROUPS: Final = {word: BITS[name] for name, words in READING["names"].items() for word in words.split()}


def bits_of(attributes: Mapping[str, str | None]) -> int:
    """BITS of an element's *attributes*."""
    bits = 0
    for name in attributes:
        if name in _READERS:
            bits |= _READERS[name](attributes[name] or "")
    return bits


def _of_style(value: str) -> int:
    return BITS["hidden"] if _HIDDEN.search(value[:2_000]) else 0


@cached(16_384, longest=400)
def _named(value: str) -> int:
    """BITS of the words in a class or id."""
    bits = 0
    for word in value[:400].replace("-", " ").replace("_", " ").split():
        bits |= _of_word(word)
    return bits


@cached(16_384, longest=400)
def words_of(value: str) -> frozenset[str]:
    """The words in a class or id, in lower case: `siteLogo-2` -> site, logo."""
    return frozenset(map(str.lower, _NAME_WORD.findall(value[:400])))


@cached(16_384, longest=400)
def _of_word(word: str) -> int:
    if (bits := _GROUPS.get(word)) is None:
        bits = 0
        for part in map(str.lower, _NAME_WORD.findall(word)):
            bits |= _GROUPS.get(part, 0) or (_of_stems(part) if len(part) >= _SHORTEST_STEM else 0)
    return bits


def _of_stems(part: str) -> int:
    """BITS of a word that is made of several: `relatedposts`."""
    bits = 0
    for stem, each in _STEMS.items():
        if stem in part:
            bits |= each
    return bits


_READERS: Final[Mapping[str, Callable[[str], int]]] = {
    "class": _named,
    "id": _named,
    "hidden": lambda _: BITS["hidden"],
    "style": _of_style,
    "role": lambda value: _OF_ROLES.get(value, 0),
    "itemprop": lambda value: _OF_ITEMPROPS.get(value, 0),
}
