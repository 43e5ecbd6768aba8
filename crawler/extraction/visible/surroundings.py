"""What the texts beside a number say of it: labels, units, payments, periods."""

from __future__ import annotations

import re
from typing import Final

from selectolax.lexbor import LexborNode

from crawler.extraction.tree.nodetext import around, tag_ids
from crawler.extraction.visible import cents, view
from crawler.extraction.visible.view import View
from crawler.extraction.words import currencies, values
from crawler.utils.caches import cached

MAX_CODE: Final = 3  # characters of a text that may be just the currency
MAX_LABEL: Final = 40  # characters of a text that may label the next one
ABOVE: Final = 60  # texts before a row in which the product's own price may stand
BEFORE: Final = 3  # texts before a price that may be one label, with a number in per cent
ROW: Final = 3  # elements around a text up to its row
_OF_PRICE: Final = ("price", "past_price")
_LABELS: Final = tag_ids("td th dt label")

_WORD = re.compile(r"[^\W\d_]{2,}")
_LESS = re.compile(r"[-–−]\D{0,2}\d")  # an amount that is taken off
_WORDY = re.compile(r"[^\W\d_]{4,}")
_TIMES: Final = ("x", "×", "х")  # the last one is Cyrillic
_PAID_TIMES = re.compile(r"(?<![\w.,])\d{1,2} ?[x×х]$")  # at the end of a text
_TIMES_OF = re.compile(  # an amount
    r"(?<![\w.,])\d{1,2} ?[x×х] ?(?:(?:de|à|á|of|po|da) )?(\D{0,4}\d[\d., \u00a0]*\D{0,6})(?!\d)"
)
_TIMES_PAID = re.compile(r"[x×х] ?(?:[2-9]|[1-9]\d)(?![\w.,]|\s?[x×х]\s?\d)")
_PAYMENTS = re.compile(  # at the end of a text
    r"(?<![\w.,])(?:[2-9]|[1-9]\d)[ -](?:(?:[^\W\d_][\w-]{0,15} ){0,2}(?:payments?|instal?lments?|paiements?"
    r"|mensualités|échéances|cuotas|mensualidades|parcelas|prestações|teilzahlungen|monatsraten|termijnen|betalingen"
    r"|delbetalningar|delbetalinger)|fois|pagos|plazos|vezes|rate|raten|rater|avdrag|erää|rat[ay]?|splát[eok]{1,2}[ky]?"
    r"|részlet\w{0,3}|плат[её]ж(?:а|ей|ів|і)?|вноск[аи]|taksit|δόσεις|obrok[ae]?|obrokov|įmok\w{1,3}|maksega|دفعات|أقساط|قسط|תשלומים)"
    r"(?: [^\W\d_]{1,6}){0,2}$",
    re.IGNORECASE,
)
_PER = re.compile(
    r"(?:/|per) ?(?:\d{1,4} ?)?(?:k?g|lb|oz|[cm]?l|lit(?:er|re|ro)|kilo|stk|st|st(?:ü|uec)ck|pc|m²|100)\b",
    re.IGNORECASE,
)
_TAX: Final = (
    r"(?:vat|gst|tax|mwst|ust|mehrwertsteuer|btw|tva|iva|moms|mva|alv|dph|áfa|pdv|ндс|пдв|ддс|kdv|φπα|pvm|km)\b\.?"
)
RATE: Final = re.compile(
    rf"\d{{1,2}}(?:[.,]\d)? ?%\)? ?(?:de |di )?{_TAX}|\b{_TAX},? ?[(@]?(?: ?(?:de|di|@|a|à))? ?\d{{1,2}}(?:[.,]\d)? ?%",
    re.IGNORECASE,
)
WITHOUT_TAX: Final = (
    rf"\b(?:ex(?:cl?|kl|cluding|clusive)?|zzgl|ohne|hors|sans|sin|sem|senza|zonder|uden|ekskl|eks|utan|uten"
    rf"|bez|без|fără|brez|ilma)\b\.?\W{{0,2}}(?:of |de |di )?{_TAX}|\bh\.?t\b|\+ ?{_TAX}"
    rf"|\b{_TAX}\W{{0,2}}(?:excl|exkl|esclus|hariç|nélkül)"
)
_PERIOD = re.compile(
    r"(?:/|\b(?:per|pro|par|an?|al|por|à la|je|på|om|v|na|za|в|за|от)) ?(?:the |la |el |l')?"
    r"(?:month|mo\b|monat|mois|mes\b|mese\b|mês|maand|mån|md\b|mnd|year|yr\b|jahr|an\b|año|ano\b|anno|jaar|år\b|night|nacht"
    r"|nuit|noche|notte|noite|natt|noc\b|user|nutzer|seat|week\b|woche|semaine|semana|visit|person|hour|stunde|heure|hora"
    r"|day\b|tag\b|jour\b|dia\b|día|мес|год|ночь|сутки|человек|час\b)|(?:first|1st|ersten|första|premi[eè]re?|primer|primo"
    r"|pierwszy|eerste|první) (?:month|year|monat|jahr|månad|mois|année|mes\b|año|mese|anno"
    r"|miesiąc|rok|maand|měsíc)|mtl\b|monthly|monatlich|mensuel|mensual|mensile|月|泊"
    r"|(?:/ ?|\b(?:per|pr\.|por|za|na|în|за|на|ανά) )(?:mies|m-c\b|rok\b|osob[aęuy]\b|týd|týž|měs|mesia"
    r"|hó(?:nap)?\b|éj|fő\b|lun[aă]\b|noapte|pers(?:\.|\b)|pax\b|persoan|kişi|gece|ay\b|gün\b|yıl\b|kk\b|yö\b"
    r"|hlö|henkilö|nat\b|måned|vecka|mjesec|mesec|людин|місяць?|особу\b|чел|βράδυ|μήνα|άτομο|ώρα)"
    # "Krém na den", "Доставка в день заказа", "i den", "za noć" are no prices for a day or a night
    r"|(?:/ ?|\b(?:per|pr\.) )(?:os(?:\.|ob|\b)|den\b|dan\b|noć|uge\b|ніч|доб|день|ден\b|нощ)"
    r"|/ ?[晚夜月人位年]|/ ?(?:월|박|인)|\bp\. ?p\b|\d\D{0,5}\bpp\b"
    r"|^(?:night|nacht|nuit|noche|notte|noite|month|monat|mois|mes|mese|mês)$",
    re.IGNORECASE,
)


def label_before(page: View, index: int) -> str:
    """The text before, if it is short and without digits: it may label this one."""
    return page.texts[index - 1][0] if index and is_label(page, index - 1) else ""


def is_label(page: View, index: int) -> bool:
    """Whether a text may say what the number beside it is."""
    return index not in page.numbered and len(page.texts[index][0]) <= MAX_LABEL


@cached(16_384)
def is_wordy(text: str) -> bool:
    """Whether *text* has words besides a currency."""
    return any(not currencies.is_word(word) for word in _WORDY.findall(text))


def is_part(page: View, index: int) -> bool:
    """Whether its text, or the one before or behind, says that it is paid so many times: `4 x 140,74 €`, `4x`
    `140,74 €`, `140,74 €` `x 4`, `or 4 payments of` `$140.74`."""
    times = _TIMES_OF.search(page.texts[index][0])
    if times is not None and currencies.mentions(times[1].strip(), page.document.country):
        return True
    before = page.texts[index - 1][0] if index - 1 in page.numbered else ""
    if before[-1:] in _TIMES and _PAID_TIMES.search(before) is not None:
        return True
    if before[-1:].isalpha() and len(before) <= MAX_LABEL and _PAYMENTS.search(before) is not None:
        return True
    behind = page.texts[index + 1][0] if index + 1 < len(page.texts) else ""
    return behind[:1] in _TIMES and _TIMES_PAID.match(behind) is not None


def is_subscribers(page: View, index: int) -> bool:
    """Whether the texts before say that a price is for those who order again and again: `Subscribe & save` `15%`."""
    begin = page.heading_index + 1 if page.heading_index < index else 0
    before = page.texts[max(begin, index - BEFORE) : index]
    for text, _ in before:
        if "%" in text:
            break
    else:
        return False  # nearly always
    label = ""
    for text, node in reversed(before):
        if len(text) > MAX_LABEL or page.flags(node) & view.LINK or (any(map(str.isdigit, text)) and "%" not in text):
            break
        label = f"{text} {label}"
    return page.lexicon.says("subscribed", label)


def is_in_row(page: View, index: int) -> bool:
    """Whether two numbers that look like it follow at once, as in a row of a comparison: its label is of all."""
    following = page.texts[index + 1 : index + 3]
    if len(following) < 2 or not page.numbered.issuperset((index + 1, index + 2)):
        return False
    begin = max(page.heading_index + 1, index - ABOVE) if page.heading_index < index else 0
    country = page.document.country
    if not any(currencies.mentions(text, country) for text, _ in page.texts[begin : index - 1]):
        return False  # nothing else may be its price: a row of quantities
    return {page.look(node) for _, node in following} == {page.look(page.texts[index][1])}


def is_aside(page: View, index: int) -> bool:
    """Whether a price is said to be that of a unit, or without tax: in its text, by the label before it, or right
    after it."""
    says, texts = page.lexicon.says, page.texts
    if says("side_price", texts[index][0]):
        return True
    label = label_before(page, index)
    is_labelled = label != "" and says("side_price", label)
    if is_labelled and (label[-1] in ":：" or _is_label_of(page, index) or _is_without_tax_of_two(page, index)):
        return True
    after = texts[index + 1][0] if index + 1 < len(texts) else ""
    if len(after) <= MAX_CODE and index + 2 < len(texts) and (currencies.is_word(after) or _is_joint(after)):
        index, after = index + 1, texts[index + 2][0]
    if _PER.match(after):
        return True
    is_alone = after != "" and (is_label(page, index + 1) or _is_rate(after))
    is_own = is_alone and after[-1] not in ":：" and not says("price", after)
    if not is_own or not says("side_price", after):
        return False
    return not (index + 2 in page.numbered and _is_label_of(page, index + 2))


def _is_without_tax_of_two(page: View, index: int) -> bool:
    """Whether labels stand before two prices, and that of the other one says with tax: `ex VAT` `£75` `inc VAT` `£90`.
    No price stands before the first label, which else may be its own."""
    for first, other in ((index, index + 2), (index - 2, index - 2)):
        if first < 1 or not page.numbered.issuperset((first, first + 2)) or not is_label(page, other - 1):
            continue
        before = page.texts[first - 2][0] if first > 1 else ""
        is_first = first - 2 not in page.numbered or not currencies.mentions(before, page.document.country)
        if is_first and page.lexicon.says("with_tax", page.texts[other - 1][0]):
            return True
    return False


def _is_joint(text: str) -> bool:
    """Whether *text* is a short word in front of what a price is paid with: `$90` `via` `Pix`."""
    return text.isalpha() and text.islower()


def _is_rate(text: str) -> bool:
    """Whether a short *text* has no other number than a rate of tax: `zzgl. 19% MwSt.`"""
    without = RATE.sub("", text) if "%" in text and len(text) <= MAX_LABEL else text
    return without != text and not any(map(str.isdigit, without))


def _is_label_of(page: View, index: int) -> bool:
    """Whether the text before is a cell for labels, or stands first in what is right around this one, or alone with
    it in a row beside that of a price."""
    label = page.texts[index - 1][1]
    if label.tag_id in _LABELS:
        return True
    before = page.texts[index - 2][1].mem_id if index > 1 else None
    enclosing = around(page.texts[index][1].parent, 1)
    if label.mem_id != before and any(each.mem_id == label.mem_id for each in enclosing):
        return True
    row = label.parent
    return row is not None and any(each.mem_id == row.mem_id for each in enclosing) and _is_row_of(page, row, index)


def _is_row_of(page: View, row: LexborNode, index: int) -> bool:
    """Whether *row* has neither the text before the label of the one at *index*, nor a label behind that, and one of
    these is of a price, or a higher price stands beside it: else, as beside a row of the shipping, it is what is asked.
    """
    is_second = any(_is_of_whole(page, at) for at in (index - 3, index + 1) if 0 <= at < len(page.texts))
    if not (is_second or _is_lower(page, index, index - 2) or _is_lower(page, index, index + 1)):
        return False
    beside = [at for at in (index - 2, index + 1) if 0 <= at < len(page.texts) and (at < index or is_label(page, at))]
    return all(row.mem_id != each.mem_id for at in beside for each in around(page.texts[at][1], ROW))


def _is_lower(page: View, index: int, at: int) -> bool:
    """Whether the price at *index* is lower than one *at* another place, or whose currency stands there, that nothing
    calls past or another's: shipping and instalments are lower themselves."""
    if 0 < at < len(page.texts) and currencies.is_word(page.texts[at][0]):
        at -= 1
    if at < 0 or at not in page.numbered or page.flags(page.texts[at][1]) & (view.PAST | view.OTHER):
        return False
    price, other = (values.price_in_text(page.texts[each][0]) for each in (index, at))
    if price is None or other is None or price >= other or is_wordy(page.texts[at][0]):
        return False
    return not any(says(kind, page, at) for kind in ("past_price", "other_price", "side_price"))


def _is_of_whole(page: View, index: int) -> bool:
    """Whether a text is a label for a price, and none of a unit or without tax."""
    says, text = page.lexicon.says, page.texts[index][0]
    is_price = is_label(page, index) and (says("price", text) or says("with_tax", text))
    return is_price and not says("side_price", text)


def says(kind: str, page: View, index: int) -> bool:
    """Whether the text, or the short one before it that is on no button apart, has a phrase of that *kind*."""
    says = page.lexicon.says
    if says(kind, page.texts[index][0]):
        return True
    label = label_before(page, index)
    if label == "":
        return False
    is_second = kind in _OF_PRICE and index - 2 in page.numbered  # of two numbers
    if is_second and _is_of_price(page, index - 1) and (behind := _label_behind(page, index)):
        return says(kind, behind)
    return says(kind, label) and not _is_button_apart(page, index)


def _label_behind(page: View, index: int) -> str:
    """The label that stands behind a number, if the one before it is the number's before that: `$45.00` `Regular price`
    `$38.25` `Sale price`, or "". All have to stand side by side."""
    texts = page.texts
    if index + 1 >= len(texts) or not _is_of_price(page, index + 1):
        return ""
    nodes = [node for _, node in texts[index - 2 : index + 2]]
    parents = {parent.mem_id for node in nodes if (parent := node.parent) is not None}
    is_side_by_side = len(parents) == 1 and len({node.mem_id for node in nodes}) == len(nodes)
    is_first = index < 3 or (around := texts[index - 3][1].parent) is None or around.mem_id not in parents
    if not (is_side_by_side and is_first) or nodes[1].tag_id in _LABELS:
        return ""
    return texts[index + 1][0] if currencies.mentions(texts[index - 2][0], page.document.country) else ""


def _is_of_price(page: View, index: int) -> bool:
    """Whether a text is a label for a price that is asked, or is past."""
    says, text = page.lexicon.says, page.texts[index][0]
    return is_label(page, index) and (says("price", text) or says("past_price", text))


def is_now(page: View, text: str) -> bool:
    """Whether all the words of a *text* with an amount are for the price that holds now: `Now $72`, `Only $72`; not for
    what is saved (`Sale: -$10`, `Now save $10`)."""
    said = " ".join(each for each in _WORD.findall(text) if not currencies.is_word(each))
    return said in text and page.lexicon.says("now", said) and _LESS.search(text) is None


def is_of_period(page: View, index: int) -> bool:
    """Whether a price is paid again and again, or for a night, a person, an hour."""
    after = index + 1
    said = (index, after) if after < len(page.texts) and is_label(page, after) else (index,)
    return any(_PERIOD.search(page.texts[at][0]) for at in said)


def _is_button_apart(page: View, index: int) -> bool:
    """Whether the text before is that of a button that does not stand with this one: a tab, a panel that opens."""
    node = page.texts[index - 1][1]
    return bool(page.flags(node) & view.BUTTON) and not cents.is_near(node, page.texts[index][1])
