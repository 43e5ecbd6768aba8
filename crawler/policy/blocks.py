"""Challenge and denial pages: what a site sends instead of a page. Pure.

Real pages of protected sites have the same scripts, headers and words, so no single one decides: signs are weighed
(blocks.toml), and a page with its own content is no block. Nearly every page passes after a check of status, title and
some links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from crawler.entities import unescape
from crawler.lazy import cached_property
from crawler.policy.block_vendors import (
    FAULTS,
    HINTS,
    KINDS,
    MARKS,
    THINGS,
    TOLD_ROBOTS,
    TRACES,
    VENDORS,
    VISITOR,
    WORDS,
    Vendor,
)
from crawler.policy.page_text import (
    bones,
    condensed,
    has_more,
    in_utf8,
    is_html,
    is_robots_txt,
    prose,
    unframed,
    unquoted,
    visible_text,
    width,
    without_listings,
)
from crawler.policy.shells import carries_data
from crawler.policy.signs import Signs

TITLE_BYTES: Final = 4_096  # searched for a title
MAX_LINKS: Final = 12  # a page with more links, or more text, has its own content
MAX_CLOSED: Final = 100  # most elements of a block page above SCRIPT_BYTES
SCRIPT_BYTES: Final = 65_536
MAX_TEXT: Final = 1_500  # characters
SHORT_TEXT: Final = 700
BRIEF_TEXT: Final = 400
NO_TEXT: Final = 40
NO_PAGE_BYTES: Final = 3_000
FRAMED_BYTES: Final = 65_536  # of a page in its site's design that may be a refusal inside
FRAMED_TEXT: Final = 500
MANY_PRICES: Final = 3
MAX_SHOWN: Final = 2  # pictures beside a refusal
MAX_PARTS: Final = 12  # paragraphs, and pictures, of such a page
LINKED_BYTES: Final = 32_768  # most that is read of a page with more links
STUB_BYTES: Final = 65_536
MANY_HIDDEN: Final = 50  # names as obfuscators make them
LONG_SCRIPT: Final = 4_096
STUB_TEXT: Final = 200  # a note for visitors without scripts
PLAIN_BYTES: Final = 32_768  # of what is not HTML
ENOUGH: Final = 3
STATUSES: Final = frozenset({202, 401, 403, 405, 406, 416, 418, 428, 429, 430, 456, 498, 503, 999})
OWN: Final = frozenset({428, 430, 456, 498, 999})  # statuses that say little but this

_OWN_FORM: Final = re.compile(rb"""type\s*=\s*["']?(?:password|email|tel)\b|<textarea\b""", re.IGNORECASE)
_FIELD: Final = re.compile(rb"""<input\b[^>]*\btype\s*=\s*["']?text|<label\b""", re.IGNORECASE)
_UNINDEXED: Final = (b"oindex", b"NOINDEX")
_SELLS: Final = re.compile(
    r"(?:[€$£¥₹₽]|\b(?:eur|usd|gbp|chf))\s?\d|\d\s?(?:€|zł|kč|kr\b|₽|руб|円|元|원|usd|eur)"
)  # in the text
_PARTS: Final = (b"<p>", b"<p ", b"<img")
_ERROR_KEYS: Final = ('"message"', '"error"', '"errors"', '"detail"', '"msg"', '"reason"', '"code"', '"status"')
_REFUSES: Final = Signs(
    [
        "403",
        "406",
        "forbidden",
        "denied",
        "blocked",
        "rejected",
        "acceptable",
        "refus",
        "verweigert",
        "blockiert",
        "gesperrt",
        "denegad",
        "negad",
        "bloque",
        "bloccat",
        "geweigerd",
        "odepřen",
        "odmow",
        "odmów",
        "запрещ",
        "отказано",
        "заблок",
        "engellen",
        "拒",
        "禁止",
        "拦截",
        "차단",
        "거부",
        "ditolak",
    ]
)
_INCIDENT: Final = re.compile(
    r"\b(?=[0-9a-f]*\d)[0-9a-f]{16,}\b|\b\d{12,}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f-]{14,}|\bip\b[^.]{0,40}\b\d+\.\d+\.\d+\.\d+|"
    r"\b(?:reference|incident|support|request|event|ray|case|trace)[ -]?(?:id|number|code|no\b|#)"
    r"[^a-z0-9]{0,4}(?=[a-z-]*\d)[0-9a-z-]{6,}|details: cache-"
)
# How titles begin of pages that tell about such pages.
_TELLS: Final = (
    "what ", "how ", "why ", "when ", "was ist ", "wie ", "warum ", "qué ", "que es ", "cómo ", "qu'est", "comment ",
    "pourquoi ", "che cos", "come ", "o que ", "como ", "wat is ", "hoe ", "co to ", "jak ", "co je ",
    "что такое ", "как ",
)  # fmt: skip
_SERVED: Final = (b'id="root"', b'id="app"', b"<form", b"<input", b"<button", b"<canvas")
_AGAIN: Final = (b"document.cookie", b"location.reload")
_OWN_DATA: Final = (b"application/ld+json", b"itemprop=", b"og:type")
_MORE_THAN_SCRIPT: Final = re.compile(
    rb"<(?!/|!|(?:html|head|title|meta|link|style|script|noscript|body|base|iframe|br)\b)[a-z]", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block page: its vendor, and its *kind*, one of KINDS."""

    vendor: str
    kind: str


UNAVAILABLE: Final = 503  # roads, too


class _Page:
    """One response being weighed; each part is computed on first use."""

    def __init__(self, status: int, headers: Mapping[Any, Any], body: bytes, title: str, *, linked: bool) -> None:
        self.headers = headers
        self.title = unquoted(title)
        self.is_refused = status in STATUSES and status != UNAVAILABLE
        self.refused = (status in STATUSES) + (status in OWN)
        self._linked = linked
        self.source = body[:LINKED_BYTES] if linked else without_listings(condensed(body))

    @cached_property
    def marked(self) -> tuple[Vendor, str] | None:
        """The first vendor whose mark the page bears, and the kind of page that it indicates."""
        if not MARKS.any_in(self.source):
            return None
        source = unquoted(self.source.decode("utf-8", "replace"), is_source=True).encode()
        return next(((vendor, kind) for vendor in VENDORS if (kind := vendor.kind(source))), None)

    @cached_property
    def traced(self) -> Vendor | None:
        if not TRACES.any_in(self.source):
            return None
        return next(vendor for vendor in VENDORS if vendor.trace.any_in(self.source))

    @cached_property
    def told(self) -> Vendor | None:
        told = list(_told(self.headers))
        return next((vendor for vendor in VENDORS if any(_any(vendor.told, one) for one in told)), None)

    @cached_property
    def text(self) -> str:
        return visible_text(self.source.decode("utf-8", "replace"))

    @cached_property
    def spoken(self) -> str:
        """Its text in its own words."""
        return self.text if self.text.startswith(("{", "[")) else unquoted(self.text)

    @cached_property
    def is_bare(self) -> bool:
        return not self._linked and (width(self.text) <= MAX_TEXT or prose(self.text) <= MAX_TEXT)

    @cached_property
    def is_empty(self) -> bool:
        return len(self.text) < NO_TEXT and len(self.source) < NO_PAGE_BYTES

    @cached_property
    def is_short(self) -> bool:
        """Whether the page says little more than one thing."""
        return width(self.text) <= SHORT_TEXT

    @cached_property
    def is_refusal(self) -> bool:
        """Whether its title refuses, and its text is little but the number of an incident: servers of their own accord
        give none."""
        refuses = _REFUSES.any_in(self.title)
        return refuses and width(self.text) <= BRIEF_TEXT and _INCIDENT.search(self.text) is not None

    @cached_property
    def serves(self) -> int:
        """Points for serving visitors: 4 for prices; 3 for a login, sign-up or contact form, or a title that promises
        to tell; 2 for data; 1 for machine-readable statements."""
        is_error = len(self.text) <= BRIEF_TEXT and any(self.told_robots) and _any(_ERROR_KEYS, self.text)
        is_data = self.text.startswith(("{", "[")) and not is_error
        sells = _SELLS.search(self.text[:MAX_TEXT]) is not None
        tells = self.title.startswith(_TELLS)
        asks = _OWN_FORM.search(self.source) is not None or len(_FIELD.findall(self.source)) > 1
        return 4 * sells + 3 * (asks + tells) + 2 * is_data + _any(_OWN_DATA, self.source)

    @property
    def offers(self) -> bool:
        """Whether it sells several things; a challenge in it is there for later."""
        return len(_SELLS.findall(self.text[:MAX_TEXT])) >= MANY_PRICES

    @property
    def is_fault(self) -> bool:
        """Whether it says that the site behind a vendor is down."""
        return FAULTS.any_in(f"{self.title} {self.text}")

    @property
    def is_of_things(self) -> bool:
        """Whether it is about roads or videos, and not about the visitor's request, browser or network; the status of a
        refusal says that it is."""
        if self.is_refused:
            return False
        said = f"{self.title} {self.text}"
        return THINGS.any_in(said) and not VISITOR.any_in(said)

    @property
    def is_linked(self) -> bool:
        """Whether it leads anywhere."""
        return b"<a " in self.source

    def stub(self) -> Vendor | None:
        """The vendor of a page that is nothing but a script; any vendor's, if the script is long, or the page has no
        title, or the status is a refusal."""
        if len(self.source) > STUB_BYTES or len(self.text) > STUB_TEXT or b"<script" not in self.source.lower():
            return None
        frame = bones(self.source)
        if _MORE_THAN_SCRIPT.search(frame):
            if not self._tests_visitors(frame):
                return None
            return next((one for one in self.told_robots if one is not None), VENDORS[-1])
        known = next((one for one in VENDORS if any(_all(signs, self.source) for signs in one.stub)), None)
        if known is not None or _any(_OWN_DATA, self.source) or carries_data(self.source):
            return known
        is_long = len(self.source) - len(frame) >= LONG_SCRIPT or self.source.count(b"_0x") > MANY_HIDDEN
        is_nameless = not self.title and b" src=" in frame
        return VENDORS[-1] if self.refused or is_long or is_nameless or _any(_UNINDEXED, self.source) else None

    def _tests_visitors(self, frame: bytes) -> bool:
        """Whether scripts in the page itself, with no app to mount, set a cookie and load it again, or hide what they
        do."""
        if self.is_linked or b" src=" in frame or _any(_SERVED, frame) or carries_data(self.source):
            return False
        return _all(_AGAIN, self.source) or self.source.count(b"_0x") > MANY_HIDDEN

    @cached_property
    def says(self) -> int:
        """Points for its wording: 2 for words to a robot in title or text; 1 for words in both, or a hint on a short
        page; 1 more if all its text hints at it."""
        words = [bool(said) for said in self.told_robots]
        hints = [self.is_short and HINTS.any_in(where) for where in (self.title, self.spoken)]
        all_hint = any(hints) and (hints[0] or not self.title) and (hints[1] or not self.text)
        return 2 * (any(words) or self.is_refusal) + (any(hints) or all(words)) + all_hint

    @cached_property
    def told_robots(self) -> tuple[Vendor | None, Vendor | None]:
        """The vendors of the words to a robot in title and text."""
        return _saying(self.title), _saying(self.spoken)

    def hinting(self) -> Vendor | None:
        said = f"{self.title} {self.spoken}"
        return next(vendor for vendor in VENDORS if vendor.hints.any_in(said)) if HINTS.any_in(said) else None


def detect(status: int, headers: Mapping[Any, Any], body: bytes, url: str) -> Block | None:  # noqa: ARG001
    """The block that this response is, or None for a page. *headers* are Scrapy's or a map; *body* is decompressed.

    Known weakness: a refusal in the site's own design passes as a page if its words are of no known kind, or it has
    many paragraphs or pictures; `required` elements in the domain's rules catch those.
    """
    if not body:
        return _decided(_Page(status, headers, body, "", linked=False))
    body = in_utf8(body)
    title = _title(body)
    suspicious = status in STATUSES or (title != "" and WORDS.any_in(title))
    linked = has_more(body, b"</a", MAX_LINKS) or has_more(body, b"</A", MAX_LINKS)
    framed = linked and _may_refuse(body)
    if not suspicious and not framed and (linked or _has_content(body) or is_robots_txt(body)):
        return None
    page = _Page(status, headers, body, title, linked=linked)
    if suspicious and (decisive := _decided(page)) is not None:
        return decisive
    if (block := _weighed(page)) is not None or not framed:
        return block
    return _in_frame(_Page(status, headers, unframed(body), title, linked=False))


def _may_refuse(body: bytes) -> bool:
    """Whether a page with many links may say nothing but a refusal, by a check that costs next to nothing."""
    return len(body) <= FRAMED_BYTES and not any(has_more(body, part, MAX_PARTS) for part in _PARTS)


def _in_frame(page: _Page) -> Block | None:
    """As _weighed, for a site's frame: only words count, and most of its text has to be the refusal."""
    in_text = width(page.text) <= FRAMED_TEXT and (page.told_robots[1] is not None or HINTS.any_in(page.spoken))
    if not in_text or page.says < ENOUGH - 1 or page.source.count(b"<img") > MAX_SHOWN:
        return None
    return _weighed(page)


def _has_content(body: bytes) -> bool:
    """Whether it is certainly a page, or not HTML, by a check that costs next to nothing."""
    if len(body) > SCRIPT_BYTES and has_more(body, b"</", MAX_CLOSED):  # a shorter source may be a script
        return True
    return len(body) > PLAIN_BYTES and not is_html(body)


def _weighed(page: _Page) -> Block | None:
    """A mark suffices. Otherwise points: for its wording; 1 each for a trace, a telling status, and a header with it;
    then 1 for noindex, and 1 for an empty page or one with such words and little else. A page that serves visitors
    loses points; one with more text, or with hints only and a link, needs one more."""
    if not page.is_bare and not page.refused:
        return None
    if page.marked is not None:
        vendor, kind = page.marked
        return None if page.offers else Block(vendor.name, kind)
    if not page.is_bare:
        return None
    if (maker := page.stub()) is not None:
        return Block(maker.name, KINDS[0])
    (in_title, in_text), hint = page.told_robots, page.hinting()
    signs = page.says + bool(page.traced) + bool(page.refused and page.told)
    alone = page.is_empty or (page.says > 1 and page.is_short)
    only_hints = page.says < ENOUGH and not any(page.told_robots)
    enough = ENOUGH + (not page.refused and (not page.is_short or (only_hints and page.is_linked)))
    if not signs or signs + page.refused + _any(_UNINDEXED, page.source) + alone - page.serves < enough:
        return None
    generic, known = VENDORS[-1], (page.told, in_title, in_text, page.traced, hint)
    vendor = next((one for one in known if one is not None and one is not generic), generic)
    is_other = page.is_fault or (page.is_of_things and not page.traced)
    return None if is_other else Block(vendor.name, _kind(page))


def _decided(page: _Page) -> Block | None:
    for vendor in VENDORS:
        for name, values in vendor.decisive.items():
            if any(value.decode("latin-1") in values for value in _values(page.headers, name)):
                return Block(vendor.name, KINDS[0])
    return None


def _told(headers: Mapping[Any, Any]) -> Iterator[bytes]:
    """Names of headers and of the cookies they set, and the Server; in lower case."""
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


def _saying(where: str) -> Vendor | None:
    if not where or not TOLD_ROBOTS.any_in(where):
        return None
    return next(vendor for vendor in VENDORS if vendor.words.any_in(where))


def _any(signs: Iterable[Any], where: Any) -> bool:
    for sign in signs:  # noqa: SIM110 - a generator would take three times as long
        if sign in where:
            return True
    return False


def _all(signs: Iterable[bytes], where: bytes) -> bool:
    return all(sign in where for sign in signs)
