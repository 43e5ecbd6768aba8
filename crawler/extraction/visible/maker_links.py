"""What links to all of a maker's products say, where a brand is expected: `More from Acme`, `All articles`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from crawler.extraction.structured import site_names

MAX_WORDS: Final = 7  # of a name
LEAST: Final = 3  # letters of a name in such a text
# How they begin, and in which words names do not.
_MORE: Final = frozenset((
    "more", "mehr", "weitere", "más", "mais", "altri", "meer", "fler", "flere", "lisää", "więcej", "další", "ďalšie",
    "još", "több", "ещё", "еще", "більше",
))  # fmt: skip
_LEADING: Final = _MORE | frozenset((
    "shop", "see", "view", "visit", "browse", "discover", "alle", "alles", "voir", "tous", "toutes", "ver", "todos",
    "todas", "vedi", "tutti", "bekijk", "visa", "zobacz", "wszystkie", "zobrazit", "vše", "všechny", "все", "всі",
    "смотреть", "перейти", "tüm", "toate",
))  # fmt: skip
# What else they say, and names seldom do.
_THINGS: Final = frozenset(str.split(
    """
    from by of all the store shop brand products items articles collection range von vom alles alle artikel produkte
    marke hersteller de del di la les produits marque productos producten prodotti produtos marca van merk från fra af
    av produkter varumärke produkty od značky výrobky marki товары от бренда товари від ürünleri ürünler tuotteet
    produsele proizvodi proizvoda
    """
))  # fmt: skip


def name_in(text: str, title: str) -> str | None:
    """The words of such a *text* that the product's *title* has, as that writes them: `Acme` of `Shop all Acme tools`.

    None if it is no such text, or a name that the title has as a whole.
    """
    first, *rest = text.split() or [""]
    is_more = first.lower() in (_MORE if len(rest) < 2 else _LEADING)  # two words may be a name: View Master
    if not is_more or len(rest) > MAX_WORDS or text.lower() in title.lower() or not (len(rest) < 2 or _tells(rest)):
        return None
    runs = (rest[at : at + size] for size in range(len(rest), 0, -1) for at in range(len(rest) - size + 1))
    named = (site_names.squeezed("".join(run)) for run in runs)
    found = (site_names.named_in(title, letters) for letters in named if len(letters) >= LEAST)
    return next(filter(None, found), None)


def is_name(text: str, title: str) -> bool:
    """Whether *text* may be a name: no sentence, and no such text, unless the *title* has all of it."""
    words = text.split()
    is_more = words[:1] != [] and words[0].lower() in _MORE and _tells(words[1:]) and text.lower() not in title.lower()
    return 0 < len(words) <= MAX_WORDS and not is_more


def _tells(words: Sequence[str]) -> bool:
    """Whether one of the *words* is of such a text."""
    return any(word.lower() in _THINGS for word in words)
