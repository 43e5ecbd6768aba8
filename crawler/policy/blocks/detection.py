"""Challenge and denial pages: what a site sends instead of a page. Pure.

Real pages of protected sites have the same scripts, headers and words, so no single one decides: signs are weighed
(blocks.toml), and a page with its own content is no block. Nearly every page passes after a check of status, title and
some links.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from crawler.policy.blocks import stubs
from crawler.policy.blocks.judged_page import JudgedPage
from crawler.policy.blocks.leaning import LEAST_TEXT, asks_members, leans, leans_away
from crawler.policy.blocks.page_text import (
    LONG_BYTES,
    MOST_BYTES,
    bones,
    has_more,
    in_utf8,
    is_html,
    is_listing,
    is_robots_txt,
    is_utf_8,
    spelled_out,
    width,
)
from crawler.policy.blocks.read_page import STATUSES
from crawler.policy.blocks.shells import is_mounted
from crawler.policy.blocks.vendors import GENERIC, HINTS, KINDS, WORDS
from crawler.policy.blocks.walls import AGES, WORKS, wall
from crawler.policy.endings.response_headers import values_of
from crawler.utils import charsets
from crawler.utils.entities import unescape

TITLE_BYTES: Final = 4_096  # searched for a title
MAX_LINKS: Final = 12  # a page with more links, or more text, has its own content
MENU_LINKS: Final = 4  # more are a menu
FEW_LINKS: Final = 2  # beside a refusal
MAX_CLOSED: Final = 100  # most elements of a block page above SCRIPT_BYTES
SCRIPT_BYTES: Final = 65_536
MAX_TAGS: Final = 10_000
FRAMED_BYTES: Final = 65_536  # of a page in its site's design that may be a refusal inside
FRAMED_TEXT: Final = 500
MAX_SHOWN: Final = 2  # pictures beside a refusal
MAX_PARTS: Final = 12  # paragraphs, and pictures, of such a page
PLAIN_BYTES: Final = 32_768  # of what is not HTML
ENOUGH: Final = 3
LEGAL: Final = "legal"  # the vendor of notices by order of a court, who else only reports what courts do
_TOLD: Final = {"javascript": "empty without JavaScript", "incomplete": "without the fields that its domain requires"}
DENIERS: Final = frozenset({LEGAL, "suspended", AGES, WORKS})  # vendors whose pages no tier gets past
SERVER: Final = "server"  # the vendor of servers' own error pages with a status of success
_FRAME: Final = (b"<nav", b"<header", b"<footer")
_PARTS: Final = (b"<p>", b"<p ", b"<img")


@dataclass(frozen=True, slots=True)
class Block:
    """A block page: its vendor, and its *kind*, one of KINDS."""

    vendor: str
    kind: str


def detect(status: int, headers: Mapping[Any, Any], body: bytes, url: str) -> Block | None:  # noqa: ARG001
    """The block that this response is, or None for a page. *headers* are Scrapy's or a map; *body* is decompressed.

    Known weakness: a refusal in the site's own design passes as a page if its words are of no known kind, or it has
    many paragraphs or pictures; `required` elements in the domain's rules catch those.
    """
    if not body:
        return _decided(JudgedPage(status, headers, body, "", linked=False))
    body = in_utf8(body)
    is_list = status not in STATUSES and is_listing(body)  # whatever its pages are named
    title = _title(headers, body)
    suspicious = status in STATUSES or (title != "" and WORDS.any_in(title))
    linked = has_more(body, b"</a", MAX_LINKS) or has_more(body, b"</A", MAX_LINKS)
    framed = linked and _may_refuse(body)
    is_other = not suspicious and not framed and (linked or _has_content(body) or is_robots_txt(body))
    if is_list or is_other:
        return None
    if len(body) <= LONG_BYTES:
        body = _recoded(body, headers, body)
    page = JudgedPage(status, headers, body, title, linked=linked or _is_dense(body))
    if suspicious and (decisive := _decided(page)) is not None:
        return decisive
    block = _weighed(page)
    if block is not None and not _leans_away(page, body):
        return block
    if name := wall(page):
        return Block(name, KINDS[2] if name in DENIERS else KINDS[0])
    is_page = block is not None or (linked and not framed) or is_robots_txt(body)
    return None if is_page else _hidden(page, body, framed=framed)


def _hidden(page: JudgedPage, body: bytes, *, framed: bool) -> Block | None:
    """The block in the site's own design, or in words of its own. *framed*: it has many links."""
    inner = page if not framed and not _has_frame(body) else page.within(body)
    in_frame = _in_frame(inner) if framed or _speaks_in_frame(page, body) else None
    if in_frame is not None and not _leans_away(page, body):
        return in_frame
    if inner is page and body.count(b"</a") > FEW_LINKS:
        inner = page.within(body)
    return _leaning(inner if framed or len(inner.text) >= LEAST_TEXT else page, body)


def _may_refuse(body: bytes) -> bool:
    """Whether a page with many links may say nothing but a refusal, by a check that costs next to nothing."""
    return len(body) <= FRAMED_BYTES and not any(has_more(body, part, MAX_PARTS) for part in _PARTS)


def _speaks_in_frame(page: JudgedPage, body: bytes) -> bool:
    """Whether a page with few links says something to robots inside its site's design."""
    return _has_frame(body) and page.is_bare and page.says > 0


def _has_frame(body: bytes) -> bool:
    return any(part in body for part in _FRAME) or (_may_refuse(body) and body.count(b"</a") > MENU_LINKS)


def _is_dense(body: bytes) -> bool:
    """Whether it has more tags than any block page: each that is read costs a microsecond or two."""
    return len(body) > SCRIPT_BYTES and body.count(b"<", 0, MOST_BYTES) > MAX_TAGS


def _in_frame(page: JudgedPage) -> Block | None:
    """As _weighed, for a site's frame: only words count, and most of its text has to be the refusal."""
    in_text = width(page.text) <= FRAMED_TEXT and (page.told_robots[1] is not None or HINTS.any_in(page.spoken))
    if not in_text or page.says < ENOUGH - 1 or page.source.count(b"<img") > MAX_SHOWN:
        return None
    if page.is_servers or (page.is_good and page.is_aside) or asks_members(page):
        return None
    return _weighed(page)


def _has_content(body: bytes) -> bool:
    """Whether it is certainly a page, or not HTML, by a check that costs next to nothing."""
    if len(body) > SCRIPT_BYTES and has_more(body, b"</", MAX_CLOSED):  # a shorter source may be a script
        return True
    return len(body) > PLAIN_BYTES and not is_html(body)


def _weighed(page: JudgedPage) -> Block | None:
    """A mark suffices. Otherwise points: for its wording; 1 each for a trace, a telling status, and a header with it;
    then 1 each for noindex, for a page that waits to be loaded again, and for an empty page or one with such words and
    little else. A page that serves visitors loses points; one with more text, or with a link and hints only or a
    heading about something else, needs one more."""
    if not page.is_bare and not page.refused:
        return None
    if page.marked is not None:
        vendor, kind = page.marked
        return None if page.offers else Block(vendor.name, kind)
    if not page.is_bare:
        return None
    if (maker := stubs.sender(page)) is not None or page.is_servers:
        return Block(SERVER, KINDS[2]) if maker is None else Block(maker.name, KINDS[0])
    signs = page.says + bool(page.traced) + bool(page.refused and page.told)
    signs += bool(signs) and (page.waits or (page.traced is GENERIC and page.is_widget))
    alone = page.is_empty or (page.says > 1 and page.is_short) or page.is_curt or page.is_case or page.is_denial
    alone = alone or page.is_about_robots
    only_hints = page.says < ENOUGH and not any(page.told_robots)
    leads_away = page.is_linked and (only_hints or page.is_aside)
    enough = ENOUGH + (not page.refused and (not page.is_short or leads_away))
    if not signs or signs + page.refused + page.is_unindexed + alone - page.serves < enough:
        return None
    block = _named(page)
    is_other = page.is_fault or (page.is_of_things and not page.traced and block.vendor != LEGAL)
    return None if is_other else block


def _leaning(page: JudgedPage, body: bytes) -> Block | None:
    """What no known words say, by many weak signs."""
    if not page.is_bare or _is_long(body) or not leans(page, body):
        return None
    is_app = page.refused and is_mounted(page.source)
    return None if is_app or page.is_fault or asks_members(page) else _named(page)


def _is_long(body: bytes) -> bool:
    """Whether it is longer than a refusal without its scripts and styles."""
    return len(body) > LONG_BYTES or (len(body) > FRAMED_BYTES and len(bones(body)) > FRAMED_BYTES)


def _leans_away(page: JudgedPage, body: bytes) -> bool:
    """Whether a page with the words of a refusal, sent as if all were well, has many signs of being none, or
    asks what only members have."""
    if not page.is_good or page.refused or page.marked is not None:
        return False
    if page.is_servers or (page.traced is not None and any(page.told_robots)):  # whatever it asks for
        return False
    if page.heads_refuse and not page.is_linked:
        return asks_members(page)
    is_framed = _has_frame(body) or (page.is_linked and body.count(b"</a") > FEW_LINKS)
    inner = page.within(body) if is_framed else page
    return asks_members(page) or leans_away(inner, inner.source, is_framed=is_framed)


def _named(page: JudgedPage) -> Block:
    """The block, under the name of the vendor who words it so."""
    in_title, in_text = page.told_robots
    known = (page.told, in_title, in_text, page.traced, page.hinting())
    vendor = next((one for one in known if one is not None and one is not GENERIC), GENERIC)
    return Block(vendor.name, _kind(page, vendor.name))


def _decided(page: JudgedPage) -> Block | None:
    return None if (vendor := page.sender()) is None else Block(vendor.name, KINDS[0])


def _kind(page: JudgedPage, vendor: str) -> str:
    if page.traced is GENERIC:
        return "captcha"
    return "denial" if vendor in DENIERS or "denied" in page.title or "blocked" in page.text else "challenge"


def _recoded(part: bytes, headers: Mapping[Any, Any], body: bytes) -> bytes:
    """*part* of *body* in UTF-8, read in the encoding that the answer or its page names."""
    if part.isascii() or is_utf_8(part):
        return part
    named = next(iter(values_of(headers, "Content-Type")), b"")
    return part.decode(charsets.declared(named.decode("latin-1"), body) or "utf-8", "replace").encode()


def _title(headers: Mapping[Any, Any], body: bytes) -> str:
    at = body.find(b"<title", 0, TITLE_BYTES)
    if at < 0 and (at := body.find(b"<TITLE", 0, TITLE_BYTES // 4)) < 0:
        return ""
    start = body.find(b">", at, at + 500) + 1
    end = body.find(b"<", start, start + 500)
    title = body[start : max(start, end)]
    raw = _recoded(title, headers, body).decode("utf-8", "replace")
    return spelled_out(" ".join((unescape(raw) if "&" in raw else raw).lower().split()))


def told(why: str) -> str:
    """*why* a page is not passed on, as `meta["block"]` and dead letters have it, as a log line says it."""
    vendor, mark, rest = why.partition("; ")
    return f"{_TOLD.get(vendor, vendor)}{mark}{rest}"
