"""When a page was published: by meta elements, JSON-LD, marked times, its URL, or a date shown by its heading."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from crawler import urls
from crawler.extraction.content import changes, near_heading
from crawler.extraction.content.entries import MANY, place_of, without_entries
from crawler.extraction.content.marks import BITS, READING
from crawler.extraction.content.page_kind import SHOPS, Kind
from crawler.extraction.content.passages import Passage
from crawler.extraction.tree.document import Document
from crawler.extraction.tree.nodetext import text_of
from crawler.extraction.words.counting import WORD

MAX_TIMES: Final = 40  # <time> elements
BELOW_HEADING: Final = 6  # passages that may contain the date
ABOVE_HEADING: Final = 3
MAX_HEADINGS: Final = 10
MAX_LINES: Final = 1_500  # passages searched for a date
LONGEST_LINE: Final = 30  # words of a line searched for a date
MAX_WORKS: Final = 20  # of JSON-LD, asked for changes
FIRST_YEAR: Final = 1995

_DATES: Final = str.split(
    """
    article:published_time og:published_time datepublished date dc.date dc.date.issued dcterms.date dcterms.created
    dc.date.created pubdate publishdate publish_date publication_date date.published parsely-pub-date sailthru.date
    article.published cxenseparse:recs:publishtime citation_publication_date citation_date
    """
)
_CHANGES: Final = ("article:modified_time", "og:updated_time")
_ONE_DAY: Final = timedelta(days=1)  # between what is stated and what is shown in another zone
_META: Final = BITS["meta"]
_BESIDE: Final = BITS["footer"] | BITS["nav"] | BITS["aside"] | BITS["comm"] | BITS["talk"]
_DAY_FIRST_LANGUAGES: Final = frozenset(str.split("ca da de el es fi fr gl id it nb nl no pl pt ro ru tr uk vi ar he"))
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})(?:([-/]|\. ?)(\d{1,2})\2(\d{1,2})|[年년] ?(\d{1,2})[月월] ?(\d{1,2}))(?!\d)")
_COMPACT = re.compile(r"\s*(\d{4})(\d\d)(\d\d)(?:T|\s|$)")
_IN_PATH = re.compile(r"[/_-](\d{4})[/_-](\d{1,2})[/_-](\d{1,2})(?!\d)")
_MONTHS: Final = {name: number for number, names in enumerate(READING["months"], 1) for name in names.split()}
# In English: `iPad Gen 10 2022`, `3 set 2015 pieces`.
_WORDS_TOO: Final = frozenset(str.split("ago gen lug mag out set"))
_PLURAL_BEHIND = re.compile(r"\s[^\W\d_]{3,20}s(?!\w)")  # not of `12 set 2019 alle 10`, `12 out 2019 por Ana`
_YEAR = re.compile(r"\d{4}")
_LIKELY_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_LABEL = re.compile("[:：]")
_DAY_FIRST = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|\.)?\s(?:de\s|of\s)?([^\W\d_]{3,12})\.?,?\s(?:del?\s)?(\d{4})(?!\d)"
)
_MONTH_FIRST = re.compile(r"([^\W\d_]{3,12})\.?\s(\d{1,2})(?:st|nd|rd|th)?,?\s(\d{4})(?!\d)")
_MONTH_BETWEEN = re.compile(r"(?<!\d)(\d{4})\.?\s([^\W\d_]{3,12})\.?\s(\d{1,2})(?!\d)")
# Whoever writes so begins with the day; a version may go on.
_DOTTED = re.compile(r"(?<![\w.])(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})(?!\.?\d)")
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?![\d/])")  # Americans begin with the month
_ORDERS: Final = (True, False)
_MONTHS_OF_YEAR: Final = 12
_MARKED: Final = "[itemprop~=datePublished],[itemprop=dateCreated],time[pubdate],time.published"
_ANY_TIME: Final = "time,[itemprop*=date]"


def published(
    document: Document,
    metas: Mapping[str, str],
    works: Sequence[dict[str, Any]],
    kind: Kind,
    found: Sequence[Passage],
    today: date,
) -> datetime | None:
    """Midnight UTC of the day that is stated, or shown of the page itself: not of a comment or an entry of a list.

    That of the last change, where both are stated and readers are shown only this one.
    """
    stated = (
        str(work[name]) for name in ("datePublished", "dateCreated", "uploadDate") for work in works if work.get(name)
    )
    named = (metas[name] for name in _DATES if metas.get(name))
    marked = _times(document, _MARKED, kind)
    shown = (_times(document, "time[datetime]", kind), iter([_of_path(document.url)]), _lines(found, kind))
    is_day_first = _is_day_first(document.language)
    for source in (named, *((marked, stated) if kind == "forum" else (stated, marked)), *shown):
        for text in source:
            if (day := day_of(text, today, is_day_first=is_day_first)) is not None:
                day = _in_zone_shown(document, text, day)
                if kind != "forum" and kind not in SHOPS:
                    stated_changes = _changes(metas, works, day, today)
                    day = _shown_change(document, stated_changes, day, found, today) if stated_changes else day
                return datetime(day.year, day.month, day.day, tzinfo=UTC)
    return None


def _in_zone_shown(document: Document, text: str, day: date) -> date:
    """*day* of *text*; where that is a moment in UTC, its day in the zone of a <time> of the page with the same one."""
    moment = _moment(text)
    if moment is not None and not moment.utcoffset():
        return next((shown.date() for each in _marked(document) if (shown := _moment(each)) == moment and shown), day)
    return day


def _marked(document: Document) -> list[str]:
    """What the first MAX_TIMES <time> elements state."""
    nodes = document.tree.css("time[datetime]")[:MAX_TIMES] if document.once(_has_times) else []
    return [node.attributes.get("datetime") or "" for node in nodes]


def _moment(text: str) -> datetime | None:
    """The moment that *text* states in ISO 8601 with its zone."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def _changes(metas: Mapping[str, str], works: Sequence[dict[str, Any]], day: date, today: date) -> set[date]:
    """The stated days of changes after *day*."""
    stated = [str(work["dateModified"]) for work in works[:MAX_WORKS] if work.get("dateModified")]
    stated += [metas[name] for name in _CHANGES if name in metas]
    return {change for text in stated if (change := day_of(text, today)) is not None and change > day + _ONE_DAY}


def _shown_change(document: Document, stated: set[date], day: date, found: Sequence[Passage], today: date) -> date:
    """The first of the *stated* changes in a line that tells it; *day* without one, or if that is shown, too."""
    is_day_first, years = _is_day_first(document.language), {each.year for each in stated}
    days = [
        (change, each)
        for each in changes.lines(found, years)
        if (change := day_of(each.text, today, is_day_first=is_day_first)) in stated and not each.around & _BESIDE
    ]
    if not days or _is_shown(document, day, found, today) or changes.hides(document, found, day, years):
        return day
    many = Counter(place_of(each) for each in found[:MAX_LINES] if _has_year(each))
    return next((change for change, each in days if change and many[place_of(each)] < MANY), day)


def _is_shown(document: Document, day: date, found: Sequence[Passage], today: date) -> bool:
    """Whether the page shows *day*, or one beside it in another zone, in whatever order of day and month."""
    near = {day - _ONE_DAY, day, day + _ONE_DAY}
    lines = changes.with_years(found, {each.year for each in near})
    texts = [*(each.text for each in lines), *_marked(document), _of_path(document.url)]
    return any(not near.isdisjoint(_valid(text, today, order)) for text in texts for order in _ORDERS)


def _times(document: Document, css: str, kind: Kind) -> Iterator[str]:
    """Times in elements' attributes or text."""
    nodes = document.tree.css(css)[:MAX_TIMES] if document.once(_has_times) else []
    for node in nodes if kind == "forum" else without_entries(nodes):
        attributes = node.attributes
        yield attributes.get("datetime") or attributes.get("content") or text_of(node, 100)


def _has_times(document: Document) -> bool:
    return document.first(_ANY_TIME) is not None


def _of_path(url: str) -> str:
    match = _IN_PATH.search(urls.split(url).path)
    return f"{match[1]}-{match[2]}-{match[3]}" if match else ""


def _lines(found: Sequence[Passage], kind: Kind) -> Iterator[str]:
    """Short lines with a year: by the page's heading, sentences last, then elsewhere whose class is about its data."""
    heads, named = list[int](), list[Passage]()
    for at, each in enumerate(found[:MAX_LINES]):
        if each.is_main_heading:
            heads.append(at)
        elif each.own & _META and _has_year(each):
            named.append(each)
    lines = [*sorted(filter(_has_year, _near(found, heads[:MAX_HEADINGS])), key=lambda each: each.is_prose), *named]
    wanted = {each.around for each in lines if kind != "forum"}
    alike = enumerate(found[:MAX_LINES]) if wanted else ()
    many = Counter(_places([(at, each) for at, each in alike if each.around in wanted and _has_year(each)]))
    return (each.text[:400] for each in lines if many[place_of(each)] < MANY)


def _near(found: Sequence[Passage], heads: Sequence[int]) -> list[Passage]:
    """The passages right below the page's headings, then those right above."""
    below = dict.fromkeys(at for head in heads for at in range(head, min(head + BELOW_HEADING, len(found))))
    above = (
        found[at]
        for head in heads
        for at in range(max(0, head - ABOVE_HEADING), head)
        if near_heading.is_above(found[at], found[head].box)
    )
    return [*(found[at] for at in below), *above]


def _has_year(passage: Passage) -> bool:
    return passage.words <= LONGEST_LINE and _YEAR.search(passage.text, 0, 400) is not None


def _places(dated: Sequence[tuple[int, Passage]]) -> Iterator[tuple[int, int, str, int]]:
    """The places of *dated* lines, once for a page's own days one below the other: `Published: ...`, `Updated: ...`."""
    before: tuple[int, Passage] | None = None
    for at, each in dated:
        is_next = before is not None and before[0] == at - 1 and place_of(before[1]) == place_of(each)
        is_labelled = each.words <= near_heading.LONGEST_LABELLED and _LABEL.search(each.text)
        if not (is_next and is_labelled):
            yield place_of(each)
        before = at, each


def _is_day_first(language: str) -> bool | None:
    """Whether the day stands first in `4/3/2026`, by the page's *language*; None if nobody knows."""
    code = language.lower().replace("_", "-")
    if code.startswith("en"):
        return {"en-us": False, "en-gb": True, "en-au": True, "en-nz": True, "en-ie": True, "en-in": True}.get(code)
    return True if code.partition("-")[0] in _DAY_FIRST_LANGUAGES else None


def is_dated(text: str) -> bool:
    """Whether *text* has a year, or a day and a month."""
    has_month = any(map(str.isdigit, text)) and not _MONTHS.keys().isdisjoint(WORD.findall(text.lower()))
    return has_month or _LIKELY_YEAR.search(text) is not None


def day_of(text: str, today: date, *, is_day_first: bool | None = None) -> date | None:
    """The first date in *text*, in numbers whose order is known or with a month's name; None without a valid one.

    *is_day_first*: whether `4/3/2026` begins with the day.

    Known weakness: only the Gregorian calendar; `3 hours ago` is none.
    """
    return next(_valid(text, today, is_day_first), None)


def _valid(text: str, today: date, is_day_first: bool | None) -> Iterator[date]:
    for year, month, day in _days(text[:400], is_day_first):
        try:
            found = date(int(year), month, int(day))
        except ValueError:
            continue
        if found.year >= FIRST_YEAR and found <= today:
            yield found


def _days(text: str, is_day_first: bool | None) -> Iterator[tuple[str, int, str]]:
    """(year, month, day) of what may be a date."""
    if match := _COMPACT.match(text):
        yield match[1], int(match[2]), match[3]
    for match in _YEAR_FIRST.finditer(text):
        if not _is_version(text, match):
            yield match[1], int(match[3] or match[5]), match[4] or match[6]
    for match in _DOTTED.finditer(text):
        yield match[3], int(match[2]), match[1]
    yield from _slashed(text, is_day_first)
    lower = text.lower()
    for match in _DAY_FIRST.finditer(lower):
        if is_day_first or match[2] not in _WORDS_TOO or not _PLURAL_BEHIND.match(lower, match.end()):
            yield match[3], _MONTHS.get(match[2], 0), match[1]
    for match in _MONTH_FIRST.finditer(lower):
        if is_day_first or match[1] not in _WORDS_TOO:
            yield match[3], _MONTHS.get(match[1], 0), match[2]
    for match in _MONTH_BETWEEN.finditer(lower):
        yield match[1], _MONTHS.get(match[2], 0), match[3]


def _slashed(text: str, is_day_first: bool | None) -> Iterator[tuple[str, int, str]]:
    for match in _SLASHED.finditer(text):
        if match[1] == match[2] or int(match[1]) > _MONTHS_OF_YEAR or is_day_first:
            yield match[3], int(match[2]), match[1]
        elif int(match[2]) > _MONTHS_OF_YEAR or is_day_first is False:
            yield match[3], int(match[1]), match[2]


def _is_version(text: str, found: re.Match[str]) -> bool:
    """Whether it stands behind a name, and not all of it in two digits: `PyCharm 2023.3.2`."""
    before = text[: found.start()].rstrip()[-1:]
    return found[2] == "." and len(found[3] + found[4]) < len("mmdd") and before.isascii() and before.isalpha()
