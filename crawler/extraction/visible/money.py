"""The amounts of money among the texts of a page: where each stands, how it is written, and in which currency."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborNode

from crawler.extraction.tree.nodetext import around
from crawler.extraction.visible import cents, statements, surroundings, view
from crawler.extraction.visible.view import View
from crawler.extraction.words import currencies, values
from crawler.policy.items.validation import CURRENCIES
from crawler.utils.caches import cached

MAX_NUMBERS: Final = 400  # examined per page, nearest to its heading
MAX_TEXT: Final = 80  # characters of a text with a price
MAX_BLOCK: Final = 40  # characters of an element that still counts as one price
MAX_AROUND: Final = 6  # characters beside a number whose currency is in another element: "from 12", "12,-"
NEAR: Final = 4  # texts before and after a number that may be in one element with it
_SIGNED = re.compile(r"(?![\d.,])[^\W\d]{0,4}[^\w\s]?\s?\d")  # a number with its sign before it
_UNIT = re.compile(r"%|[^\W\d_]{1,3}$")  # 72 折, 12 cm, 3 kg
_PERCENT = re.compile(r"\(?\d{1,2}(?:[.,]\d)? ?%\)? ?")
_DISCOUNT = re.compile(
    r"[(\[]?\s?[-−–]\s?\d{1,2}(?:[.,]\d)?\s?%\s?[)\]]?"
    r"|[(\[]\s?\d{1,2}(?:[.,]\d{1,2})?\s?%\s?(?:off|할인|割引|korting|rabatt?|remise|(?:de )?réduction|descuento|dto\.?"
    r"|desconto|(?:di )?sconto|zniżki|slev[ay]|скидк[аи]|знижк[аи]|indirim|alennus|kedvezmény|reducere|popust)\s?[)\]]",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_TIMES = re.compile(r"\d{1,3} ?[x×]|[x×] ?\d{1,3}")  # payments
_TAXED = re.compile(r"円[^円]{0,9}税込\D{0,3}(\d[\d,]*)\s?円")
_RANGE = re.compile(r"\d[\d.,]*\d? ?[~～〜–—-] ?\d[\d.,]*")  # its currency stands after it
_EURO_CENTS = re.compile(r"\s?€(?:\s(?=\d\d\s*$))?(\d\d)(?![\d.,]|\s?€)")  # 49€99, and 49 € 99 at the end
# Behind the first three only a currency: else they begin a word.
_MULTIPLE = re.compile(r"\s?(?:([万萬만])(?![^\W\d_円元원圆圓])(?:\s?(\d[\d,]*))?|(lakh|lac|crore)s?\b)", re.IGNORECASE)
_ORE = re.compile(r"(\d+(?:[ \u00a0\u202f]\d{3})*):(\d\d)(?! ?\d)")
_KRONOR: Final = frozenset(("DKK", "NOK", "SEK"))
_LAKHS: Final = frozenset(("BDT", "INR", "LKR", "NPR", "PKR"))  # elsewhere a `lac` is a lake
_ZEROS: Final = {"lakh": 5, "lac": 5, "crore": 7}  # of any other word four


@dataclass(slots=True)  # a frozen one takes three times as long to make
class Candidate:
    """A number that may be a price: its place, its form, and its currency."""

    index: int
    node: LexborNode
    number: str
    currency: str | None
    said: str = ""  # of it alone, in a text that states several prices: that it is the one asked


def candidates(page: View) -> Iterator[Candidate]:
    """What may be prices, each element once."""
    done: set[int] = set()
    for index in numbers(page):
        found = candidate(page, index, page.document.country)
        if found is not None and found.node.mem_id not in done:
            done.add(found.node.mem_id)
            yield found


def numbers(page: View) -> list[int]:
    """Which texts may be prices."""
    texts = page.texts
    found = [
        index
        for index in page.numbers
        if len(text := texts[index][0]) <= MAX_TEXT
        and ("%" not in text or _is_with_rate(page, text) or _is_discounted(page, text))
        and not (cents.are_cents(texts, index) or ((text[-1] in "x×" or text[0] in "x×") and _TIMES.fullmatch(text)))
    ]
    if len(found) > MAX_NUMBERS:
        found = sorted(sorted(found, key=lambda index: abs(index - page.heading_index))[:MAX_NUMBERS])
    return found


def _is_with_rate(page: View, text: str) -> bool:
    """Whether the per cent in a *text* with an amount are the tax that it is with or without: `59 € inkl. 19% MwSt.`

    Not a discount, nor a tax of that amount (`VAT 20%: £10`).
    """
    if surroundings.RATE.search(text) is None or not currencies.mentions(text, page.document.country):
        return False
    said = _PERCENT.sub("", text)
    is_one = "%" not in said and len(values.WRITTEN.findall(said)) == 1
    return is_one and any(page.lexicon.says(kind, said) for kind in ("with_tax", "side_price"))


def _is_discounted(page: View, text: str) -> bool:
    """Whether *text* is one amount and by how much it is lower than before: `59,90 € (-20%)`."""
    amount, found = _DISCOUNT.subn("", text)
    if found != 1 or "%" in amount or len(values.WRITTEN.findall(amount)) != 1:
        return False
    is_bare = all(map(currencies.is_word, _WORD.findall(amount)))
    return is_bare and written(amount.strip(), page.document.country)[1] != ""


def candidate(page: View, index: int, country: str) -> Candidate | None:
    """The price in a text: with a currency beside it, in the next text, or around it; or with none, but named a
    price."""
    text, node = page.texts[index]
    number, currency = written(text, country)
    if currency:
        if asked := statements.asked(page, text, number, country):
            return Candidate(index, node, asked.number, asked.currency, asked.words)
        currency = _named_behind(page, index, country) or currency
        return _completed(page, _with_cents(page, Candidate(index, node, number, currency), text, country))
    if not number or (len(text) > len(number) + MAX_AROUND and not _RANGE.fullmatch(text)):
        return None
    if index + 1 in page.numbered and (signed := cents.signed(page, index, number)):
        return Candidate(index, node, signed[0], currencies.beside("", number, signed[1], country))
    if near := _beside(page, index, number, country):
        return _completed(page, Candidate(index, node, number, near))
    return _of_surroundings(page, index, number, country)


def _named_behind(page: View, index: int, country: str) -> str | None:
    """The currency with its code in the text behind: `$25` `CAD`. Not the next number's."""
    texts = page.texts
    code = texts[index + 1][0] if index + 1 < len(texts) else ""
    if code not in CURRENCIES or (index + 2 < len(texts) and texts[index + 2][0][0].isdigit()):
        return None
    return written(f"{texts[index][0]} {code}", country)[1]


def _of_surroundings(page: View, index: int, number: str, country: str) -> Candidate | None:
    """A *number* with the currency in an element around it, or none, but named a price."""
    text, node = page.texts[index]
    number = " ".join(number.split())  # as `price_text` has it
    unit = index + 1 < len(page.texts) and _UNIT.match(page.texts[index + 1][0])
    if (unit and not _is_mentioned(page, index, country)) or page.flags(node) & view.OTHER:
        return None  # of another product, a number without a currency is left alone
    is_mentioned = unit or _is_mentioned(page, index, country)
    for element in islice(around(node), int(_is_alone(text, node)), None) if is_mentioned else ():
        whole = page.price_text(element, MAX_BLOCK)
        if len(whole) > MAX_BLOCK:
            break
        if money := _money(whole, country):
            # Otherwise it is another number's cents, or next to one.
            begins = money[0].startswith(number) and whole.find(money[0]) in (-1, whole.find(number))
            is_own = begins and not (_runs_on(page, index, number, money[0]) or _is_before_signed(page, index))
            return Candidate(index, element, *money) if is_own else None
    if not unit and (page.flags(node) & view.PRICE or surroundings.says("price", page, index)):
        return _completed(page, Candidate(index, node, number, None))
    return None


def _runs_on(page: View, index: int, number: str, whole: str) -> bool:
    """Whether the *whole* runs on from a *number* into the price behind it: "up to 4" "129,90 €"."""
    following = page.texts[index + 1][0] if len(whole) > len(number) and index + 1 < len(page.texts) else ""
    return following[:1].isdigit() and _money(following, page.document.country) is not None


def _is_before_signed(page: View, index: int) -> bool:
    """Whether a text with words stands before a number that has its own sign: "LN-A5" "$ 399"."""
    following = page.texts[index + 1][0] if index + 1 < len(page.texts) else ""
    return _is_in_words(page, index) and _SIGNED.match(following) is not None


def _is_mentioned(page: View, index: int, country: str) -> bool:
    """Whether a text so near that both may be in one element of MAX_BLOCK characters mentions a currency."""
    texts = page.texts
    for near in (texts[index : index + NEAR], texts[max(0, index - NEAR) : index][::-1]):
        room = MAX_BLOCK
        for text, _ in near:
            room -= len(text)
            if room < 0:
                break
            if currencies.mentions(text, country):
                return True
    return False


def _is_alone(text: str, node: LexborNode) -> bool:
    """Whether *node* has just this one word."""
    only = node.first_child
    return only is not None and only.next is None and not any(map(str.isspace, text))


@cached(16_384)  # pages of a site share most of their texts
def written(text: str, country: str) -> tuple[str, str]:
    """(number, currency) of the first number in *text* that has a currency beside it, else (first number, "").

    ("", "") if there is no number.
    """
    first = ""
    for number in values.WRITTEN.finditer(text):
        first = first or number[0]
        multiple = _MULTIPLE.match(text, number.end())
        end = multiple.end() if multiple else number.end()
        if currency := currencies.beside(text[: number.start()], number[0], text[end:], country):
            if multiple and multiple[3] and currency not in _LAKHS:
                multiple = None
            whole = _multiplied(number[0], multiple) if multiple else _with_euro_cents(text, number)
            return _with_taxes(text) or _with_ore(text, number, currency) or whole, currency
    return first, ""


def _multiplied(number: str, multiple: re.Match[str]) -> str:
    """*number* with the word behind it for its *multiple*, and what is below that: `7.99 lakh`, `3만 9,000`."""
    unit = 10 ** _ZEROS.get((multiple[3] or "").lower(), 4)
    below = values.price_in_text(multiple[2] or "") or 0
    amount = (values.price_in_text(number) or 0) * unit + below
    return f"{amount:f}".partition(".")[0]


def _with_euro_cents(text: str, number: re.Match[str]) -> str:
    """*number* with the cents behind its sign: `49€90`."""
    cents_behind = _EURO_CENTS.match(text, number.end()) if number[0].isdecimal() else None
    return f"{number[0]},{cents_behind[1]}" if cents_behind else number[0]


def _with_taxes(text: str) -> str:
    """The amount that a Japanese *text* calls the one with tax, behind the one without: `1,290円（税込1,419円）`."""
    taxed = _TAXED.search(text) if "税込" in text else None
    return taxed[1] if taxed else ""


def _with_ore(text: str, number: re.Match[str], currency: str) -> str:
    """The amount that *number* is a part of, with a colon before its hundredths: `69:90 kr`; "" if it is not."""
    found = _ORE.finditer(text) if currency in _KRONOR and ":" in text else ()
    return next((f"{each[1]}.{each[2]}" for each in found if each.start() <= number.start() < each.end()), "")


def _money(text: str, country: str) -> tuple[str, str] | None:
    """(number, currency) of the first number in *text* that has a currency beside it."""
    found = written(text, country)
    return found if found[1] else None


def _with_cents(page: View, each: Candidate, text: str, country: str) -> Candidate:
    """The same price with cents from their own element."""
    for element in around(each.node, 1) if text[-1].isdigit() and not cents.HAS_CENTS.search(text) else ():
        whole = page.price_text(element, MAX_BLOCK)
        if len(whole) <= MAX_BLOCK and whole.startswith((f"{text}.", f"{text},")) and (money := _money(whole, country)):
            return Candidate(each.index, element, *money)
    return each


def _completed(page: View, each: Candidate) -> Candidate:
    """The same price with thousands and cents from elements of their own."""
    whole = cents.completed(page, each.index, each.node, each.number)
    return each if whole == each.number else replace(each, number=whole)


def _beside(page: View, index: int, number: str, country: str) -> str | None:
    """The currency at the end of the text before, or at the start of the text after."""
    after = page.texts[index + 1][0][: currencies.MAX_BESIDE - 1] if index + 1 < len(page.texts) else ""
    before = surroundings.label_before(page, index)[-currencies.MAX_BESIDE :]
    mentions = currencies.mentions
    if not ((before and mentions(before, country)) or (after and mentions(after, country))):
        return None  # nearly always
    if after and _is_in_words(page, index) and (_is_of_next(page, index) or _is_before_signed(page, index)):
        after = ""  # the next number's: "Amp X3" "$" "399", "LN-A5" "$ 399"
    return currencies.beside(before, number, f" {after}", country) if before or not after.isdecimal() else None


def _is_of_next(page: View, index: int) -> bool:
    """Whether the text behind is not written with the one at *index*, or that is the heading."""
    return index == page.heading_index or not cents.is_near(page.texts[index + 1][1], page.texts[index][1])


def _is_in_words(page: View, index: int) -> bool:
    return any(map(str.isalpha, page.texts[index][0]))


def says(kind: str, page: View, each: Candidate) -> bool:
    """Whether the text of a price, or what labels it, has a phrase of that *kind*: the one asked of several in a text
    is none of the others."""
    return not each.said and surroundings.says(kind, page, each.index)


def is_aside(page: View, each: Candidate) -> bool:
    """Whether a price is said to be that of a unit, or without tax."""
    return not each.said and surroundings.is_aside(page, each.index)
