"""Challenge and denial pages: what stands where a page should be. Pure.

The same scripts, headers and words stand on real pages of protected sites, so no single one of them decides: signs
are weighed (blocks.toml), and a page that has content of its own is no block. Almost every page is passed after a
look at its status, its size and its title.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, Final

from crawler.entities import unescape

SMALL_BYTES: Final = 8_192  # a good answer above this size is looked at only when its title is telling
READ_BYTES: Final = 131_072  # block pages are smaller
TITLE_BYTES: Final = 4_096  # where a title is looked for
MAX_TAGS: Final = 100  # the same
MAX_LINKS: Final = 12  # with more links, or more text, a page has content of its own
MAX_TEXT: Final = 1_500  # characters
NO_TEXT: Final = 40
NO_PAGE_BYTES: Final = 3_000
ENOUGH: Final = 3
KINDS: Final = ("challenge", "captcha", "denial")
STATUSES: Final = frozenset({202, 401, 403, 405, 406, 416, 418, 429, 430, 456, 498, 503, 999})

_TAG: Final = re.compile(r"<(/?)([a-zA-Z!][a-zA-Z0-9]*)[^<>]*>?")
_UNSEEN: Final = frozenset(("script", "style", "template", "svg", "title"))


@dataclass(frozen=True, slots=True)
class Block:
    """A page that is none: who put it there, and its *kind*, one of KINDS."""

    vendor: str
    kind: str


@dataclass(frozen=True, slots=True)
class Vendor:
    """The signs of one vendor, as blocks.toml lists them."""

    name: str
    marks: Mapping[str, tuple[bytes, ...]]  # by kind
    trace: tuple[bytes, ...]
    told: tuple[bytes, ...]
    words: tuple[str, ...]
    hints: tuple[str, ...]
    decisive: Mapping[str, tuple[str, ...]]

    def kind(self, source: bytes) -> str:
        """The kind of page that *source* is by a mark of this vendor, or ""."""
        return next((kind for kind, marks in self.marks.items() if _any(marks, source)), "")


class _Page:
    """One answer as it is weighed; each part is read on first use."""

    def __init__(self, status: int, headers: Mapping[Any, Any], body: bytes, title: str) -> None:
        self.headers = headers
        self.source = body[:READ_BYTES]
        self.title = title
        self.refused = status in STATUSES

    @cached_property
    def marked(self) -> tuple[Vendor, str] | None:
        """The first vendor whose mark it bears, and the kind of page that makes it."""
        return next(((vendor, kind) for vendor in VENDORS if (kind := vendor.kind(self.source))), None)

    @cached_property
    def traced(self) -> Vendor | None:
        return next((vendor for vendor in VENDORS if _any(vendor.trace, self.source)), None)

    @cached_property
    def told(self) -> Vendor | None:
        told = list(_told(self.headers))
        return next((vendor for vendor in VENDORS if any(_any(vendor.told, one) for one in told)), None)

    @cached_property
    def text(self) -> str:
        return visible_text(self.source.decode("utf-8", "replace"))

    @cached_property
    def is_bare(self) -> bool:
        return _links(self.source) <= MAX_LINKS and len(self.text) <= MAX_TEXT

    def saying(self, where: str) -> Vendor | None:
        """The vendor of the words to a robot that stand in title or text."""
        return next((vendor for vendor in VENDORS if _any(vendor.words, where)), None)

    def hinting(self) -> Vendor | None:
        said = f"{self.title} {self.text}"
        return next((vendor for vendor in VENDORS if _any(vendor.hints, said)), None)


def detect(status: int, headers: Mapping[Any, Any], body: bytes, url: str) -> Block | None:  # noqa: ARG001
    """The block that this answer is, or None for a page. *headers* are Scrapy's or a map; *body* is decompressed.

    Known weakness: a block page in the site's own design, with its menu and without a vendor's marks, passes for a
    page; `required` elements in the domain's rules catch those.
    """
    title = _title(body)
    suspicious = status in STATUSES or _any(_WORDS, title)
    if not suspicious and (not body or len(body) > SMALL_BYTES or body.count(b"<") > MAX_TAGS):
        return None
    page = _Page(status, headers, body, title)
    if suspicious and (decisive := _decided(page)) is not None:
        return decisive
    if not suspicious and not _any(_SIGNS, page.source):
        return None
    return _weighed(page)


def _weighed(page: _Page) -> Block | None:
    """3 points for a mark; 2 for words to a robot, and 1 for a hint or when title and text say them; 1 each for a trace
    and a telling status, and for a header with it; then 1 for a page that must not be indexed, 1 for an empty one."""
    if page.marked is not None and (page.refused or page.is_bare):
        vendor, kind = page.marked
        return Block(vendor.name, kind)
    if not page.is_bare:
        return None
    in_title, in_text, hint = page.saying(page.title), page.saying(page.text), page.hinting()
    said = 2 * bool(in_title or in_text) + bool(hint or (in_title and in_text))
    signs = said + bool(page.traced) + bool(page.refused and page.told)
    empty = len(page.text) < NO_TEXT and len(page.source) < NO_PAGE_BYTES
    if not signs or signs + page.refused + (b"oindex" in page.source) + empty < ENOUGH:
        return None
    generic, known = VENDORS[-1], (page.told, in_title, in_text, hint, page.traced)
    vendor = next((one for one in known if one is not None and one is not generic), generic)
    return Block(vendor.name, _kind(page))


def visible_text(html: str) -> str:
    """What a visitor sees of *html*, in lower case, white space collapsed; takes linear time whatever it is."""
    texts: list[str] = []
    at, hidden = 0, ""
    for tag in _TAG.finditer(html):
        if not hidden:
            texts.append(html[at : tag.start()])
        at, name = tag.end(), tag[2].lower()
        if not hidden and not tag[1] and name in _UNSEEN:
            hidden = name
        elif hidden == name and tag[1]:
            hidden = ""
    if not hidden:
        texts.append(html[at:])
    return " ".join(unescape(" ".join(texts)).lower().split())


def _decided(page: _Page) -> Block | None:
    for vendor in VENDORS:
        for name, values in vendor.decisive.items():
            if any(value.decode("latin-1") in values for value in _values(page.headers, name)):
                return Block(vendor.name, KINDS[0])
    return None


def _told(headers: Mapping[Any, Any]) -> Iterator[bytes]:
    """The names of the headers and of the cookies that they set, and who served the page; in lower case."""
    for name in headers:
        low = (name.encode() if isinstance(name, str) else name).lower()
        yield low
        if low == b"server":
            yield from (value.lower() for value in _values(headers, name))
        elif low == b"set-cookie":
            yield from (value.partition(b"=")[0].lower() for value in _values(headers, name))


def _values(headers: Mapping[Any, Any], name: Any) -> list[bytes]:
    if hasattr(headers, "getlist"):
        return list(headers.getlist(name))
    value = headers.get(name)
    return [] if value is None else [value.encode() if isinstance(value, str) else value]


def _kind(page: _Page) -> str:
    if page.traced is VENDORS[-1]:
        return "captcha"
    return "denial" if "denied" in page.title or "blocked" in page.text else "challenge"


def _title(body: bytes) -> str:
    at = body.find(b"<title", 0, TITLE_BYTES)
    if at < 0 and (at := body.find(b"<TITLE", 0, TITLE_BYTES // 4)) < 0:
        return ""
    start = body.find(b">", at, at + 500) + 1
    end = body.find(b"<", start, start + 500)
    raw = body[start : max(start, end)].decode("utf-8", "replace")
    return " ".join((unescape(raw) if "&" in raw else raw).lower().split())


def _links(source: bytes) -> int:
    return source.count(b"<a ") + source.count(b"<A ")


def _any(signs: Iterable[Any], where: Any) -> bool:
    for sign in signs:  # noqa: SIM110 - a generator would take three times as long
        if sign in where:
            return True
    return False


def _load() -> tuple[Vendor, ...]:
    tables = tomllib.loads((files("crawler.policy") / "blocks.toml").read_text("utf-8"))
    return tuple(
        Vendor(
            name,
            {kind: tuple(mark.encode() for mark in table[kind]) for kind in KINDS if kind in table},
            trace=tuple(trace.encode() for trace in table.get("trace", ())),
            told=tuple(told.encode() for told in table.get("told", ())),
            words=tuple(table.get("words", ())),
            hints=tuple(table.get("hints", ())),
            decisive={header: tuple(values) for header, values in table.get("decisive", {}).items()},
        )
        for name, table in tables.items()
    )


VENDORS: Final = _load()  # the generic one last
_WORDS: Final = tuple(words for vendor in VENDORS for words in (*vendor.words, *vendor.hints))
_SIGNS: Final = tuple(sign for vendor in VENDORS for signs in (*vendor.marks.values(), vendor.trace) for sign in signs)
