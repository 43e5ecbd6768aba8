"""Makes a page's source safe to parse: nothing in it takes time or memory out of proportion to its size.

HTML defines how a parser handles unclosed and misplaced tags, and some of these rules can be abused: an open formatting
element (<b>, <font>) is reopened in each following block, so 44 KB become 5 GB; an attribute is compared with all
others of its tag, and an unknown name with all unknown names of the page. Depth is bounded in nesting.py, growing texts
in growth.py. A page that is changed here only loses what is abuse.

A page with too few tags and bytes to do harm costs one count. In others one expression finds elements that may be
unclosed, and all tags are read where these are too many. Names and attributes are sampled, and so is what may nest,
since reading all of them takes as long as parsing: an attack needs a good part of the page, so samples every EVERY
bytes, from a random start, find it. Then the whole page is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from random import randrange
from typing import Final

from crawler.extraction.source import growth, nesting, tokens
from crawler.extraction.source.nesting import MAX_DEPTH, TAGS_UNCHECKED
from crawler.extraction.source.tokens import ATTRIBUTE, CLOSED, RAW, VALUE, compiled

SMALL: Final = 100_000  # bytes; with FEW_TAGS a page is too small to do harm
FEW_TAGS: Final = 1_500
MAX_REOPENED: Final = 400_000  # unclosed formatting elements times tags: the elements they may become
TAGS_READ: Final = 100_000  # at most, to find those that stay open: more take longer than half a second
OPEN: Final = 4  # such elements that may be open at once, if all are closed in the end
# Each end tag moves such an element some levels deeper, at a cost proportional to the depth.
MAX_SUNK: Final = 120_000_000  # unclosed formatting elements times square of the depth
MAX_STEPS: Final = 2_500_000  # end tags times depth
MAX_ROOTS: Final = 20  # <html> and <body>: each adds its attributes to the first one
MAX_ATTRIBUTES: Final = 500  # per tag, if one has more than RUN
RUN: Final = 700  # consecutive attributes; harmless in every tag of a page, of half as long a one twice as many
LARGE: Final = 500_000  # bytes; a page of that length has room for RUN
MAX_NAMES: Final = 20_000  # of elements and attributes
EVERY: Final = 40_000  # bytes between samples; a shorter page has no room for that many attributes
SAMPLE: Final = 600  # bytes
LONG: Final = 4_000  # of a tag; the rest is found without its start
REACH: Final = 4 * EVERY  # from a sample's place: attributes are read to there, or each sample would read all behind it
NAMES_SAMPLED: Final = 20  # distinct names per sample, over all samples; real pages have up to half of it
NAMES_QUOTED: Final = 30  # the same of what follows quotes, in a window of QUOTED bytes; hardly any real page has more
QUOTED: Final = 400

# What follows the "<" of formatting elements, <html>, <body>, <script>, <style>, comments, <col> and <frameset>: most
# tags fail here.
LIKELY: Final = r"(?=[!bBcCeEfFhHiInNsStTuU][-\s/>cCiIoOmMrRtT])"
FORMATTING: Final = (
    r"(?:[bB](?:[iI][gG]|[oO][dD][yY])?+|[iIuU]|[sS](?:[mM][aA][lL][lL]|[tT][rR](?:[iI][kK][eE]|[oO][nN][gG]))?+"
    r"|[eE][mM]|[tT][tT]|[hH][tT][mM][lL]|[cC][oO][dD][eE]|[fF][oO][nN][tT]|[nN][oO][bB][rR])(?=[\s/>])"
)
STRAY: Final = rf"(?P<name>{FORMATTING})(?!{CLOSED})|(?P<ignoring>{growth.IGNORING})"
_FORMATTING: Final = frozenset(b"b big code em font i nobr s small strike strong tt u".split())
# An end tag closes a formatting element if nothing but these has come between: they hold no blocks, and all of an icon.
_PASSED: Final = _FORMATTING | frozenset(
    b"a abbr bdi bdo br cite circle data defs del dfn ellipse g img ins kbd label line mark path polygon polyline q "
    b" rect samp span stop sub sup svg symbol time use var wbr".split()
)
_STRAY = compiled(rf"<{LIKELY}(?:{STRAY})")
_END = compiled(rf"</{LIKELY}{FORMATTING}")
_PAIR = compiled(rf"<{LIKELY}(?P<name>{FORMATTING}){CLOSED}")
_ROOT = compiled(r"<(body|html)(?=[\s/>])", re.IGNORECASE)
_SURPLUS = compiled(rf"{ATTRIBUTE}++")
_START = compiled(rf"</?([a-zA-Z][^\s/>]*+)({ATTRIBUTE}*+)")
_HEAD = compiled(rf"</?[a-zA-Z][^\s/>]*+({ATTRIBUTE}{{0,100}}+)")
_FEW = compiled(rf"{ATTRIBUTE}{{0,60}}+")
_OPENED = re.compile(rb"</?[a-zA-Z][^<]*+(?:<(?!/?[a-zA-Z])[^<]*+)*+\Z")  # the last tag that begins in a text
_NAME = compiled(rf"[\s/]*+([^\s/>][^\s/>=]*+){VALUE}")
# Of large pages, of half as long ones, of shorter ones: JSON in an attribute, read from its middle, seems to have many.
_RUNS = tuple(compiled(rf"{ATTRIBUTE}{{{RUN << halved}}}+") for halved in range(3))
# Everything up to a comment, such an element, or a tag with too many attributes.
_ORDINARY = compiled(
    rf"(?:[^<]*+<(?!!--|(?:{RAW})[\s/>])(?:[!?][^>]*+|/[^a-zA-Z>][^>]*+|/[a-zA-Z][^\s/>]*+{ATTRIBUTE}*+|(?![a-zA-Z])"
    rf"|[a-zA-Z][^\s/>]*+{ATTRIBUTE}{{0,{MAX_ATTRIBUTES}}}+(?!{ATTRIBUTE})))*+[^<]*+",
    re.IGNORECASE,
)
_SPECIAL_TAG = compiled(
    rf"<(?:(!--)|({RAW})(?=[\s/>])|[a-zA-Z][^\s/>]*+){ATTRIBUTE}{{0,{MAX_ATTRIBUTES}}}+", re.IGNORECASE
)


def tamed(page: bytes, known: Sequence[str] | None = None) -> bytes:
    """*page* (UTF-8), nearly always unchanged.

    *known*: the names of its `strays`, or of more, where they are known.
    """
    if len(page) <= SMALL and page.count(b"<") < FEW_TAGS:
        return page if len(page) < EVERY else _few_attributes(page, _places(page))
    page = page.replace(b"\v", b" ")  # which expressions take it for, and a parser for a part of a name
    found = Counter(name.lower() for name in (strays(page) if known is None else known))
    if found["col"] or found["frameset"]:
        page = growth.heeding_all(page)
    page = growth.bounded(_few_open(page, found))
    places = _places(page)
    page = _few_attributes(page, places)
    names, seen = _seen(page, places)
    if names > NAMES_SAMPLED * (len(places) + 1) or _behind_quotes(page, places[::5]):
        page = _few_names(tokens.without_foreign(page))
    return nesting.bounded(page, seen * EVERY / SAMPLE)  # <path/> nests where it is no longer in <svg>


def _places(page: bytes) -> range:
    return range(randrange(EVERY), len(page), EVERY)  # noqa: S311 - nobody is to know them, nothing more


def _few_open(page: bytes, found: Counter[str]) -> bytes:
    """*page* without unclosed formatting elements and repeated <html> and <body>, if enough are *found* to do harm."""
    roots = found["html"] + found["body"]
    unclosed = found.total() - roots - found["col"] - found["frameset"]
    if roots > MAX_ROOTS:
        first = list(_ROOT.finditer(page))[MAX_ROOTS].start()
        page = page[:first] + _ROOT.sub(b"<embed", page[first:])
    if unclosed and _harm(page, unclosed) and _harm(page, _unclosed(page)):
        return _STRAY.sub(b"<embed", page)
    return page


def _harm(page: bytes, unclosed: int) -> bool:
    """Whether so many *unclosed* formatting elements may cost too much."""
    tags = page.count(b"<")
    depth = tags if tags < 2 * TAGS_UNCHECKED else 2 * MAX_DEPTH
    if unclosed * tags > MAX_REOPENED:
        return True
    return unclosed * depth**2 > MAX_SUNK and _has_stray_ends(page, MAX_STEPS // depth)


def _unclosed(page: bytes) -> int:
    """How many formatting elements may stay open, not less, by all tags; expressions take those for unclosed that hold
    more than a few others. In <svg> other than icons tags are read otherwise: there all may. Those in comments, values
    and raw text count, too, since pieces of a page are parsed (nesting.py)."""
    tags = page.count(b"<")
    if tags > TAGS_READ or tokens.without_foreign(page) is not page:
        return tags
    unclosed, opened = 0, list[bytes]()
    for token in tokens.tokens(page):
        name = token.name.lower()
        if page.find(b"<", token.start + 1, token.end) >= 0:
            unclosed += len(strays(page[token.start + 1 : token.end]))
        if name and name not in _PASSED and b":" not in name:  # Word's <o:p>
            unclosed += len(opened)
            opened.clear()
        elif name in _FORMATTING and not token.ends:
            opened.append(name)
            if len(opened) > OPEN:
                unclosed += 1
                del opened[0]
        elif name in opened:
            opened.reverse()
            opened.remove(name)
            opened.reverse()
    return unclosed + len(opened)


def strays(page: bytes) -> list[str]:
    """The names of unclosed formatting elements, <html>, <body>, <frameset> and <col>, in document order."""
    return [(name or ignoring).decode() for name, _, ignoring in _STRAY.findall(page)]


def _has_stray_ends(page: bytes, most: int) -> bool:
    """Whether more than *most* end tags of formatting elements do not follow their start tag directly."""
    ends = len(_END.findall(page))
    return ends > most and ends - len(_PAIR.findall(page)) > most


def _few_attributes(page: bytes, places: range) -> bytes:
    """*page* without attributes beyond MAX_ATTRIBUTES per tag; if a sample seems to be in a long run of them, the whole
    page is read as a parser does."""
    run = _RUNS[min((LARGE // len(page)).bit_length(), 2)]
    if not any(run.match(page, place, place + REACH) for place in places):
        return page
    page = tokens.without_foreign(page)
    pieces: list[bytes] = []
    taken = place = 0
    while (place := _ORDINARY.match(page, place).end()) < len(page):  # type: ignore[union-attr]  # it matches nothing, too
        tag = _SPECIAL_TAG.match(page, place)
        if tag is None:
            place += 1
            continue
        place = tag.end()
        if tag[1]:
            place = tokens.behind_comment(page, tag.end(1))
            continue
        if surplus := _SURPLUS.match(page, place):
            pieces.append(page[taken:place])
            taken = place = surplus.end()
        if tag[2]:
            place = tokens.behind_raw(page, tag[2], place)
    return b"".join((*pieces, page[taken:])) if pieces else page


def _seen(page: bytes, places: range) -> tuple[int, int]:
    """The number of distinct element and attribute names, and of tags, in the samples."""
    names: set[bytes] = set()
    for place in places:
        names.update(_names(page, place, place + SAMPLE))
        if around := _HEAD.match(page, _opened(page, max(place - LONG, 0), place), place + REACH):
            names.update(_NAME.findall(around[1]))
    return len(names), sum(page.count(b"<", place, place + SAMPLE) for place in places)


def _opened(page: bytes, start: int, end: int) -> int:
    """Where the last tag begins there; "<" may also be a part of names and values."""
    last = page.rfind(b"<", start, end)
    if last < 0 or page[last + 1 : last + 2].isalpha():
        return max(last, start)
    found = _OPENED.search(page, start, end)
    return found.start() if found else start


def _names(page: bytes, start: int, end: int) -> set[bytes]:
    """Element and attribute names in apparent tags."""
    names: set[bytes] = set()
    for name, attributes in _START.findall(page, start, end):
        names.add(name)
        if attributes:
            names.update(_NAME.findall(attributes))
    return names


def _behind_quotes(page: bytes, places: range) -> bool:
    """Whether there are many names behind quotes, which may hide from `_seen` that a sample is within a tag: the first
    two of each kind, one of which ends a value if any does."""
    names: set[bytes] = set()
    for place in places:
        for quote in (b'"', b"'"):
            at = place
            for _ in range(2):
                if not (at := page.find(quote, at, place + QUOTED) + 1):
                    break
                if attributes := _FEW.match(page, at, at + REACH):
                    names.update(_NAME.findall(attributes[0]))
                    names |= _names(page, attributes.end(), place + QUOTED)
    return len(names) > NAMES_QUOTED * (len(places) + 1)


def _few_names(page: bytes) -> bytes:
    """*page* up to the point where it has too many names. It is read from its start, as a parser does."""
    names: set[bytes] = set()
    for token in tokens.tokens(page):
        if token.name:
            names.add(token.name)
            names.update(_NAME.findall(token.attributes))
            if len(names) > MAX_NAMES:
                return page[: token.start]
    return page
