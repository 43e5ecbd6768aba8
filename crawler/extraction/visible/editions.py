"""Whether prices beside buy buttons are those of one product's editions or sizes, not of a list or a table of plans."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from crawler.extraction.visible import view
from crawler.extraction.visible.view import View
from crawler.extraction.words import currencies

MAX_NAME: Final = 40  # characters of an edition's name
MAX_BETWEEN: Final = 8  # texts between two editions' prices
MAX_EDITIONS: Final = 30
MAX_WORDS: Final = 4  # of a name that has one of these words
MIN_TEXT: Final = 30  # characters of a text about an edition

# Forms of a book, of music and films, in the languages of most shops; and measures of what is filled or cut.
_FORMS: Final = (
    r"paperback|hardcover|hardback|softcover|soft cover|hard cover|e-?book|epub|kindle|pdf|audio ?book|cd|lp|vinyl"
    r"|mp3|flac|dvd|blu-?ray|cassette|digital|download|pocket|spiral-?bound|large print|mass market|board book"
    r"|taschenbuch|gebunden\w*|broschiert|hörbuch|leinen|poche|broché|relié|numérique|livre audio|vinyle"
    r"|tapa (?:blanda|dura)|rústica|bolsillo|audiolibro|libro electrónico|vinilo|audiolivro"
    r"|capa (?:mole|dura|comum)|brossura|copertina (?:rigida|flessibile)|tascabile|cartonato|vinile|gebonden"
    r"|luisterboek|inbunden|häftad|ljudbok|e-?bok|indbundet|hæftet|lydbog|e-?bog|innbundet|heftet|lydbok|sidottu"
    r"|nidottu|pokkari|äänikirja|e-?kirja|(?:oprawa|okładka) (?:miękka|twarda)"
    r"|(?:miękka|twarda) (?:oprawa|okładka)|e-?kniha|brožovan\w*|vázan\w*|audiokniha|puhatáblás|keménytáblás"
    r"|hangoskönyv|e-?könyv|cartonată|broșată|мягк\w+ (?:обложка|переплёт|переплет)"
    r"|тв[её]рд\w+ (?:обложка|переплёт|переплет)|аудиокнига|электронная книга|ciltli|karton kapak|e-?kitap|文庫"
    r"|単行本|電子書籍|オーディオブック|平装|精装|电子书|平裝|精裝|電子書|양장|전자책|종이책|bìa mềm|bìa cứng"
    r"|ปกอ่อน|ปกแข็ง|غلاف (?:ورقي|مقوى)|כריכה (?:רכה|קשה)"
)
# What a name ends with, or begins with, that is an edition's: "Deluxe Edition", "édition collector".
_CALLED: Final = re.compile(
    r"(?:[\w'’-]+ ){0,3}(?:bundle|ausgabe|édition|edición|edizione|edição|editie|editio[nm]|udgave|utgåva"
    r"|utgave|wydanie|edycja|edice|vydání|edícia|kiadás|ediția|ediție|издание|видання|sürümü?|έκδοση)"
    r"|(?:édition|edición|edizione|edição|wydanie|edycja|edice|edícia|издание|видання|έκδοση)(?: [\w'’-]+){1,2}",
    re.IGNORECASE,
)
_FORM: Final = re.compile(rf"(?<!\w)(?:{_FORMS})(?!\w)", re.IGNORECASE)
_MEASURE: Final = re.compile(
    r"(?:\d+ ?[x×] ?)?\d+(?:[.,]\d+)? ?(?:ml|cl|dl|l|lit(?:er|re|ro|r)s?|g|gr|kg|oz|fl\.? ?oz|lbs?|cm|mm|m|inch(?:es)?"
    r"|in|\"|″|st(?:ück|k|\.)|pcs|pieces|pack|мл|л|г|кг|см|шт\.?|毫升|克|公斤)"
    r"|(?:size |größe |taille |talla |taglia |maat |storlek |størrelse |rozmiar |velikost |размер )?"
    r"(?:x{0,3}[sl]|m|\dxl|(?:eu|uk|us) \d{1,2}(?:[.,]5)?)",
    re.IGNORECASE,
)
_SAID_OF_ALL: Final = re.compile(r"isbn|ean\b|sku\b|\d{9}", re.IGNORECASE)


def are(page: View, places: Sequence[int]) -> bool:
    """Whether prices at *places* of the page's texts are of editions: between each and the next there is a button, and
    nothing else but the name of a form or measure, or what calls itself an edition and a text about it.

    In a list of products there is a name too ("The Salt Road", "Hardcover"). Known weakness: forms with a text each.
    """
    ordered = sorted(places)
    pairs = [(one, other) for one, other in pairwise(ordered) if other > one + 1]
    return 0 < len(pairs) < MAX_EDITIONS and all(_is_next(page, one, other) for one, other in pairs)


def _is_next(page: View, one: int, other: int) -> bool:
    if other - one > MAX_BETWEEN:
        return False
    between = [(text, page.flags(node)) for text, node in page.texts[one + 1 : other]]
    pressed = [text for text, flags in between if flags & view.BUTTON or page.lexicon.buys(text.lower())]
    named = [text for text, _ in between if text not in pressed and not _is_aside(page, text)]
    if not pressed or not named:
        return False
    return all(map(_is_edition, named)) or _is_called(named)


def _is_aside(page: View, text: str) -> bool:
    """Whether *text* is a sign or currency, of stock, or a number that each edition has."""
    is_sign = not any(map(str.isalpha, text)) or currencies.is_word(text.strip())
    return is_sign or page.lexicon.of_stock.may_be_in(text.lower()) or _SAID_OF_ALL.search(text) is not None


def _is_called(named: Sequence[str]) -> bool:
    """Whether the first of these texts names an edition, and the rest, longer ones, tell of it."""
    return _CALLED.fullmatch(named[0].strip()) is not None and all(len(text) >= MIN_TEXT for text in named[1:])


def _is_edition(text: str) -> bool:
    if len(text) > MAX_NAME or len(text.split()) > MAX_WORDS:
        return False
    return _FORM.search(text) is not None or _MEASURE.fullmatch(text.strip()) is not None
