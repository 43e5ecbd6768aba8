"""Text and source of a page as far as they show what it is, read without a tree. Pure."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable
from typing import Any, Final

from crawler.utils.entities import unescape

LONG_BYTES: Final = 131_072  # a shorter source is read whole
KEPT_BYTES: Final = 4_096  # of each end of a script, style sheet or comment in a longer one
MOST_BYTES: Final = 1_048_576  # most that is read
LOOKS: Final = (8, 15, 4, 12, 6, 10, 2, 14)  # sixteenths of a source that are checked first
LOOK_BYTES: Final = 2_048
CHUNK_BYTES: Final = 65_536

ROBOTS_BYTES: Final = 1_024
_ROBOTS_RULES: Final = frozenset((b"allow", b"disallow", b"sitemap"))
# What comes before the root of a sitemap, or of a feed of news or products, and that.
_LISTS: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|<\?[^>]{0,1000}>|<!--(?:(?!-->).){0,2000}-->|<!doctype[^>\[]{0,300}>){0,20}+"
    rb"<(?:\w{1,20}:)?(?:urlset|sitemapindex|rss|feed|rdf|products|catalog|yml_catalog)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
MOST_CODE: Final = 131_072  # characters of text searched for code
LONG_WORD: Final = 100
_CODE: Final = frozenset("{}=;")
_TAG: Final = re.compile(r"<(?:(/?)([a-zA-Z][a-zA-Z0-9]*)([^<>]*)>?|(!--)|[!?][^<>]*>?)")
_UNSEEN: Final = frozenset(("script", "style", "template", "svg", "title", "textarea"))
_CONTAINERS: Final = frozenset(("div", "span", "p", "form", "section", "a", "ul", "label", "table"))
_HIDDEN: Final = re.compile(r"display\s*:\s*none|^(?:[^\"']|\"[^\"]*\"|'[^']*')*?\shidden(?=[\s=/]|$)", re.IGNORECASE)
_RAW: Final = re.compile(rb"<(?:(script|style|textarea)\b|!--)", re.IGNORECASE)
_PICTURE: Final = re.compile(rb";base64,[\w+/=]{4096,}")  # KEPT_BYTES
_FRAME: Final = re.compile(rb"<(/?)(?:header|nav|footer|aside|ul|ol|menu|select|a)\b[^<>]*>", re.IGNORECASE)
_CODE_SHOWN: Final = re.compile(rb"<(code|samp|pre|blockquote)\b(?![^<>]*\sid=)")
_QUOTED: Final = re.compile("“[^“”]{1,200}”|„[^„“”]{1,200}[“”]|«[^«»]{1,200}»|「[^「」]{1,200}」|『[^『』]{1,200}』")
_STRAIGHT: Final = re.compile(r"(?<![^\s(])\"(?!http)[^\"]{1,100}\"(?![^\s.,;:!?)])")
_CONTRACTED: Final = re.compile(r"'(re|ve)\b")
_WIDE: Final = re.compile("[\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]")
_FLESH: Final = re.compile(rb"<(?:(script|style|noscript)\b|!--)", re.IGNORECASE)


def in_utf8(body: bytes) -> bytes:
    """*body*, in UTF-8 if its byte order mark says that it is in UTF-16: the signs looked for are ASCII."""
    return body.decode("utf-16", "replace").encode() if body.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else body


def is_utf_8(part: bytes) -> bool:
    """Whether *part* is valid UTF-8, as the words looked for are, whatever its page says."""
    try:
        part.decode()
    except UnicodeDecodeError:
        return False
    return True


def visible_text(html: str) -> str:
    """What a visitor sees of *html*, in lower case, white space collapsed; always takes linear time.

    Known weakness: of styles only `display: none` in an attribute is understood, and the attribute `hidden`.
    """
    texts: list[str] = []
    at = 0
    while (tag := _TAG.search(html, at)) is not None:
        texts.append(html[at : tag.start()])
        at, name = tag.end(), (tag[2] or "").lower()
        if tag[4]:
            at = _after(html, "-->", tag.start() + 2)
        elif tag[1] or not name:
            continue
        elif name in _UNSEEN or (name in _CONTAINERS and _HIDDEN.search(tag[3])):
            at = _closed(html, name, at)
    texts.append(html[at:])
    return " ".join(unescape(" ".join(texts)).lower().split())


def spelled_out(text: str) -> str:
    """*text* with straight apostrophes and "you are" for "you're", so that a phrase is written down once."""
    text = text if text.isascii() else text.replace("’", "'")
    return text if "'" not in text else _CONTRACTED.sub(lambda found: " are" if found[1] == "re" else " have", text)


def prose(text: str) -> int:
    """How many characters of *text* are not code: scripts outside a script element do not count."""
    words = text.split() if len(text) <= MOST_CODE else [text]
    return sum(
        len(word) + 1 for word in words if _CODE.isdisjoint(word) and (len(word) < LONG_WORD or not word.isascii())
    )


def any_in(signs: Iterable[Any], where: Any) -> bool:
    """Whether one of *signs* is in *where*."""
    for sign in signs:  # noqa: SIM110 - a generator would take three times as long
        if sign in where:
            return True
    return False


def is_html(body: bytes) -> bool:
    """Whether *body* starts like an HTML document or fragment."""
    return any(
        sign in body[:1_024].lower() for sign in (b"<html", b"<!doctype html", b"<head", b"<body", b"<script", b"<meta")
    )


def has_tags(body: bytes) -> bool:
    """Whether *body* has HTML in it, and is not text, a table or a script alone."""
    return b"</" in body or b"/>" in body or is_html(body)


def is_robots_txt(body: bytes) -> bool:
    """Whether *body* is a plain robots.txt: without tags, and with its fields at the start of its first lines."""
    if b"<" in body:
        return False
    lines = [line.lstrip().lower() for line in body[:ROBOTS_BYTES].splitlines()]
    fields = [line.partition(b":")[0].rstrip() for line in lines if line and not line.startswith(b"#")]
    return fields[:1] in ([b"user-agent"], [b"sitemap"]) and not _ROBOTS_RULES.isdisjoint(fields)


def is_listing(body: bytes) -> bool:
    """Whether *body* is a sitemap, or a feed of news or products, by its root."""
    return _LISTS.match(body) is not None


def has_more(body: bytes, sign: bytes, number: int) -> bool:
    """Whether *sign* is in *body* more than *number* times; some places are checked before the whole."""
    step = len(body) // 16
    if step > LOOK_BYTES // 2:
        found, look = 0, min(step, LOOK_BYTES)  # or what lies between two places would count twice
        for place in LOOKS:
            found += body.count(sign, place * step, place * step + look)
            if found > number:
                return True
    found, end = 0, min(len(body), MOST_BYTES)
    while end > 0 and found <= number:
        found += body.count(sign, max(0, end - CHUNK_BYTES), end)
        end -= CHUNK_BYTES
    return found > number


def condensed(body: bytes) -> bytes:
    """*body*; a long one without its long pictures, and the middle of its long scripts, styles and comments."""
    if len(body) <= LONG_BYTES:
        return body
    body, at, kept = _PICTURE.sub(b";base64,", body[:MOST_BYTES]), 0, list[bytes]()
    while (raw := _RAW.search(body, at)) is not None:
        end = body.find(b"</" + raw[1] if raw[1] else b"-->", raw.end())
        end = len(body) if end < 0 else end
        if end - raw.end() > 2 * KEPT_BYTES:
            kept.append(body[at : raw.end() + KEPT_BYTES])
            at = end - KEPT_BYTES
            kept.append(body[at:end])
        else:
            kept.append(body[at:end])
        at = end
    return b"".join([*kept, body[at:]])


def bones(body: bytes) -> bytes:
    """*body* without the content of its scripts, styles, comments and noscript elements."""
    at, kept = 0, list[bytes]()
    while (raw := _FLESH.search(body, at)) is not None:
        kept.append(body[at : raw.end()])
        at = body.find(b"</" + raw[1] if raw[1] else b"-->", raw.end())
        if at < 0:
            return b"".join(kept)
    return b"".join([*kept, body[at:]])


def unframed(body: bytes) -> bytes:
    """*body* without its header, footer, menus, lists and links: what a page says inside its site's design."""
    kept, at, depth = list[bytes](), 0, 0
    for tag in _FRAME.finditer(body):
        if not depth:
            kept.append(body[at : tag.start()])
        depth = max(0, depth - 1) if tag[1] else depth + 1
        at = tag.end()
    return b"".join([*kept, b"" if depth else body[at:]])


def unquoted(text: str, *, is_source: bool = False) -> str:
    """*text* without what it quotes, other than addresses: who quotes a refusal tells about it. In a source, straight
    quotation marks hold attributes."""
    text = text if text.isascii() else _QUOTED.sub(" ", text)
    return text if is_source or '"' not in text else _STRAIGHT.sub(" ", text)


def without_listings(body: bytes) -> bytes:
    """*body* without the code and the words of others that it shows to its reader."""
    if not any(sign in body for sign in (b"<code", b"<samp", b"<pre", b"<blockquote")):
        return body
    at, kept = 0, list[bytes]()
    while (shown := _CODE_SHOWN.search(body, at)) is not None:
        end = body.find(b"</" + shown[1], shown.end())
        end = len(body) if end < 0 else end
        kept.append(body[at : shown.end()])
        if shown[1] == b"pre" and not _is_listing(
            body[shown.end() : end], body[max(0, shown.start() - 60) : shown.end()]
        ):
            kept.append(body[shown.end() : end])  # firewalls show their reasons so
        at = end
    return b"".join([*kept, body[at:]])


def _is_listing(content: bytes, before: bytes) -> bool:
    return b"highlight" in before or any(sign in content for sign in (b"&lt;", b"&amp;", b"<code", b"{"))


def width(text: str) -> int:
    """The length of *text*, in which a Chinese, Japanese or Korean character counts as two letters."""
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))


def _closed(html: str, name: str, at: int) -> int:
    """Where the element *name* whose start tag ends at *at* ends; nested elements of that name do not end it."""
    depth = 1
    for tag in re.compile(rf"<(/?){name}\b", re.IGNORECASE).finditer(html, at):
        depth += -1 if tag[1] else name not in _UNSEEN
        if not depth:
            return _after(html, ">", tag.end())
    return len(html)


def _after(html: str, mark: str, at: int) -> int:
    found = html.find(mark, at)
    return len(html) if found < 0 else found + len(mark)
