"""What an element's classes and id say about its content, by the words they consist of."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from crawler.utils.caches import cached

# Flags; those of view.py go on with 2 and 4.
OTHER: Final = 1  # related products, menus, carts, reviews, pop-ups: not the product itself
PRICE: Final = 8  # a price
CURRENT: Final = 16  # the price asked now
BUTTON: Final = 32  # a button
HIDDEN: Final = 64  # not shown
OLD: Final = 128  # an old price, by its name; a lower price nearby has to confirm that
CHOICE: Final = 256  # one of several sizes or colours
NET: Final = 512  # no price that is asked: without tax, of a unit, or what is saved

_OTHER = re.compile(
    r"related|recommend|similar|cross-?_?sell|up-?_?sell|also|recent|last-?viewed|carousel|swiper|slick|slider|\bowl"
    r"|accessor|sponsor|advert|suggest|best-?sell|mini-?_?cart|cart-?_?(content|flyout|popup|drop|summary|modal)|popup"
    r"|\bmodal|(?<!stock-)tooltip|overlay|cookie|newsletter|wish|\bcompare\b|bundle(?![-_]{0,2}price)|(?<!p)review(?!s?-sku)|comment|\bmenu|\bnav\b|navbar|breadcrumb"
    r"|\bfooter|\bheader\b|site-?header|page-?header|top-?bar|history|together|bought|\bfbt|set-?builder|successor|faq|question|paywall"
    r"|pick-?up-?(?:avail|location|store|stock)|stores?-?(?:avail|stock|list|finder|locator|pick)|click-?(?:and-?|n-?|&-?)collect"
)
# Not one that some screens show: `hidden md:block`, `d-none d-lg-flex`.
_HIDDEN = re.compile(r"(?<!\S)(?:is-|u-)?(?:hidden|hide|d-none|display-?none|no-display|unvisible)(?!\S)")
_ON_SCREENS = re.compile(r":|-(?:block|flex|inline|grid|table|visible)")
_SHEET = re.compile(r"\bmodal|popup|overlay")
_PRICE = re.compile(
    r"price|preis|prix|prec[ií]o|pre[cç]o|prezzo|prijs|\bcen[ay]\b|\bcijen[ae]\b|\bpris\b|hinta|\bk?aina\b|\bfiyat|\bharga\b"
    r"|\bpret\b|amount|cost|מחיר"
)
_BUTTON = re.compile(r"\bbtn|button|add-?_?to-?_?(cart|basket|bag)|buy(?!er)")

_PRICE_WORD: Final = (
    "price|preis|prix|precio|preco|prezzo|prijs|cena|cijena|pris|hinta|kaina|fiyat|harga|pret|amount|cost"
)
# How large a text or a button is, in a framework's classes.
_SIZED = re.compile(r"\bsize(?:[SML]|-(?:base|mini|small|medium|large|[sml]|sm|md|lg))\b")
# How a text or a box is set there: no normal, full or list price.
_SET = re.compile(
    r"\b(?:list-(?:unstyled|inline|group|item|none|disc|inside)|(?:[wh]|rounded)-full"
    r"|(?:text|font|fw|fs|weight|leading|tracking)-(?:base|normal|regular))\b"
)
_ARBITRARY = re.compile(r"\[[^\]\s]*\]")  # values in utility classes: `top-[var(--nav-height)]`
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(rf"({_PRICE_WORD})s?")


def word_set(words: str) -> frozenset[str]:
    """The space-separated *words*."""
    return frozenset(words.split())


# Words for current and for old prices. All but a few need a word for a price beside them.
_NOW: Final = word_set(
    "sale sales current now final special our offer actual main buy deal new promo promotion promotional "
    "discounted discount today live active selling sell reduced sonder aktuell aktuelle aktueller nuevo actuel "
    "nouveau attuale nova nowa akce akcia akcijska akcios indirimli effective pay asking member"
)
_ONCE: Final = word_set(
    "old was before previous prev prior former past compare compared original origin orig regular reg list base "
    "full retail initial normal standard catalog catalogue market recommended suggested advice advies ordinary "
    "ord uvp statt antes anterior ancien ancienne barre barree vecchio vecchia vechi viejo antiguo oude gammel "
    "gammal stara stary puvodni bezna vorher alt alter streich listen tachado barrato msrp rrp srp mrp strike "
    "striked strikethrough struck crossed scratch scratched through undiscounted"
)
_ONCE_ALONE: Final = word_set("old was strike striked strikethrough struck crossed msrp rrp srp mrp through uvp")
_NOT_YET: Final = word_set("before non pre without no un not")  # "price-before-sale": before it was reduced
_CHOICES: Final = word_set("size sizes swatch swatches taille tailles talla tallas taglia groesse groessen velikost")
# Beside a word for a price.
_NET: Final = word_set(
    "net netto excl excluding exvat extax untaxed unit per tier tiers saving savings saved save yousave ersparnis "
    "economy economia economie ahorro risparmio"
)

_GROSS: Final = word_set("brutto gross bruto incl including")


@cached(16_384)  # a site's pages share their names
def flags(name: str) -> int:
    """What *name* (classes and id, space-separated, in original case) says, as a sum of the constants above."""
    if "[" in name:
        name = _ARBITRARY.sub("", name)
    name = _SIZED.sub("", name)
    lower = name.lower()
    value = OTHER * bool(_OTHER.search(lower)) + BUTTON * bool(_BUTTON.search(lower))
    priced = bool(_PRICE.search(lower))
    words = _words(_SET.sub("", name) if priced else name)
    value += CHOICE * (not _CHOICES.isdisjoint(words))
    value += HIDDEN * bool(_HIDDEN.search(lower) and not _ON_SCREENS.search(lower))
    net = priced and not (_NET.isdisjoint(words) and ("without", "tax") not in pairwise(words))
    net = net and _GROSS.isdisjoint(words)
    return value + PRICE * priced + NET * net + _time(words, priced=priced)


def is_sheet(name: str) -> bool:
    """Whether *name* is that of a part that opens over the page: the product's details, or anything else."""
    return _SHEET.search(name.lower()) is not None


def _time(words: list[str], *, priced: bool) -> int:
    """Whether the words of a name mean the current price or an old one; both if they conflict."""
    marked = [at for at, word in enumerate(words) if word in _NOW] if priced else []
    reduced = [at for at in marked if not (at and words[at - 1] in _NOT_YET)]
    now = bool(reduced) or words in (["now"], ["current"], ["new"])
    once = len(reduced) < len(marked) or any(word in (_ONCE if priced else _ONCE_ALONE) for word in words)
    return CURRENT * now + OLD * once


def _words(name: str) -> list[str]:
    """`product-oldPrice is_live` -> product, old, price, is, live; a word for a price also counts inside longer
    words."""
    spaced = _COMPOUND.sub(r" \1 ", _CAMEL.sub(" ", name).lower())
    return _WORD.findall(spaced)
