"""Sitemaps and feeds, piece by piece: the pages and the further sitemaps that they name.

Reads what sitemaps.org describes (XML, text), its extensions (news, images, videos: their pages; hreflang: pages, too),
RSS 0.9 to 2.0, Atom, and the `Sitemap:` lines of a robots.txt. What is not well-formed is read as far as it goes: it
is searched for the few elements that matter, and no parser has to agree. Entities of its own are never expanded.

Known weakness: a comment or a CDATA section of over 256 KB is searched, too.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from crawler.utils import charsets

Kind = Literal["", "urlset", "index", "feed", "text", "html"]

TAIL: Final = 262_144  # characters of what has begun, and whose end has not come
HEAD: Final = 1_024  # bytes in which a sitemap says what it is
_ROOTS: Final[dict[str, Kind]] = {"sitemapindex": "index", "rss": "feed", "feed": "feed", "rdf": "feed", "html": "html"}
_ROOT: Final = re.compile(r"<(?:([\w.-]+):)?([A-Za-z][\w.-]*)|<!doctype\s+(html)", re.IGNORECASE)
_DECLARED: Final = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]{1,40})", re.IGNORECASE)
# An entry as most sitemaps write it; or what begins one; or an element and its text.
_TOKEN: Final = re.compile(
    r"<url>\s*<loc>([^<]+)</loc>(?:\s*<lastmod>([^<]*))?"
    r"|<(?:([A-Za-z_][\w.-]*):)?(?:(url|sitemap|item|entry)[\s/>]|(loc|lastmod|link|guid)\b([^<>]*)>([^<]*))"
)
_CDATA: Final = ("<![CDATA[", "]]>")
_COMMENT: Final = ("<!--", "-->")
_BEGIN: Final = {"feed": ("item", "entry"), "urlset": ("url", "sitemap")}
_ATTRIBUTE: Final = re.compile(r"(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)')")
_ENTITY: Final = re.compile(r"&(?:#x([0-9a-fA-F]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));")
_ENTITIES: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_ROBOTS: Final = re.compile(r"\s*sitemap\s*:\s*(\S+)", re.IGNORECASE)
_WEB: Final = ("http://", "https://")


class SitemapEntry(NamedTuple):
    """A page, or a further sitemap, as its sitemap writes it: the URL may be relative, and *lastmod* be anything."""

    url: str
    lastmod: str = ""
    is_sitemap: bool = False


class SitemapParser:
    """Give it all pieces in their order, then `close` it. *kind* is known after the first. One that *is_robots* is read
    for its `Sitemap:` lines alone."""

    def __init__(self, *, is_robots: bool = False) -> None:
        self.kind: Kind = ""
        self._is_robots = is_robots
        self._head = b""
        self._decoder: io.IncrementalNewlineDecoder | None = None
        self._text = ""
        self._prefix: str | None = None  # of the sitemap's own elements, where they have one
        self._entry = _Entry()

    def feed(self, piece: bytes) -> list[SitemapEntry]:
        """What is complete with *piece*."""
        if self._decoder is None:
            self._head += piece
            if len(self._head) < HEAD:
                return []
            piece = self._begin()
        assert self._decoder is not None
        self._text += self._decoder.decode(piece)
        return self._read(self._complete())

    def close(self) -> list[SitemapEntry]:
        """What was left."""
        piece = self._begin() if self._decoder is None else b""
        assert self._decoder is not None
        self._text += self._decoder.decode(piece, final=True)
        self._know(self._text)
        found = self._read(self._complete())
        if self.kind == "text":
            found += self._read(self._text)  # the last line; of markup what is cut off is no address
        return [*found, *self._entry.taken()]

    def _begin(self) -> bytes:
        self._decoder = io.IncrementalNewlineDecoder(_decoder(self._head), translate=True)
        head, self._head = self._head, b""
        return head

    def _complete(self) -> str:
        """The text up to what has begun last, which is kept for the next piece; all of it where that grows too long."""
        text = self._text
        end = (text.rfind("\n") + 1) if self.kind == "text" or not self._is_markup(text) else _last_start(text)
        if len(text) - end > TAIL:
            end = len(text)
        self._text = text[end:]
        return text[:end]

    def _is_markup(self, text: str) -> bool:
        return (not self._is_robots and text.lstrip("\ufeff \n\t")[:1] == "<") or self.kind not in {"", "text"}

    def _read(self, text: str) -> list[SitemapEntry]:
        self._know(text)
        if self.kind == "text":
            return list(self._lines(text))
        return self._elements(text) if self.kind not in {"", "html"} else []

    def _know(self, text: str) -> None:
        if self.kind or not text.strip("\ufeff \n\t"):
            return
        if not self._is_markup(text):
            self.kind = "text"
        elif found := _ROOT.search(_shown(text)):
            self.kind = "html" if found[3] else _ROOTS.get(found[2].lower(), "urlset")
            self._prefix = found[1] if self.kind != "feed" or found[2].lower() == "feed" else None

    def _lines(self, text: str) -> Iterator[SitemapEntry]:
        for line in (each.strip("\ufeff \t") for each in text.split("\n")):
            if found := _ROBOTS.match(line):
                yield SitemapEntry(found[1], is_sitemap=True)
            elif not self._is_robots and line.startswith(_WEB):
                yield SitemapEntry(line)

    def _elements(self, text: str) -> list[SitemapEntry]:
        """One walk over the elements that matter."""
        found: list[SitemapEntry] = []
        entry, own = self._entry, self._prefix
        begins = _BEGIN["feed" if self.kind == "feed" else "urlset"]
        for token in _TOKEN.finditer(_shown(text)):
            url, lastmod, prefix, begun, name, attributes, value = token.groups()
            if url is not None and "url" in begins:
                found += entry.taken()
                entry.begin("url")
                entry.url, entry.lastmod = _unescaped(url.strip()), lastmod or ""
            elif begun is not None:
                if begun in begins and (prefix == own or not prefix):
                    found += entry.taken()
                    entry.begin(begun)
            elif name == "link":
                self._link(prefix, attributes, value, found)
            elif name is not None and prefix in {None, own} and (value := value.strip()):
                if name == "loc" and entry.url:
                    found += entry.taken()
                entry.note(name, value, attributes)
        return found

    def _link(self, prefix: str | None, attributes: str, text: str, found: list[SitemapEntry]) -> None:
        """Of a feed's entry its page; of a sitemap's one its translations."""
        named = {name: _unescaped(double or single) for name, double, single in _ATTRIBUTE.findall(attributes)}
        url, rel = named.get("href", "").strip(), named.get("rel", "alternate")
        if self.kind == "feed":
            if prefix not in {None, self._prefix} or not self._entry.is_open or self._entry.url:
                return
            self._entry.url = (url if rel == "alternate" else "") or ("" if url else _unescaped(text.strip()))
        elif url and rel == "alternate":
            found.append(SitemapEntry(url))


class _Entry:
    """The one that is being read."""

    def __init__(self) -> None:
        self.url = self.guid = self.lastmod = ""
        self.is_sitemap = self.is_open = False

    def begin(self, name: str) -> None:
        self.url = self.guid = self.lastmod = ""
        self.is_sitemap, self.is_open = name == "sitemap", True

    def note(self, name: str, value: str, attributes: str) -> None:
        """The text of one of its elements."""
        if name == "loc":
            self.url = _unescaped(value)
        elif name == "lastmod":
            self.lastmod = value
        elif name == "guid" and "false" not in attributes.lower() and value.startswith(_WEB):
            self.guid = _unescaped(value)

    def taken(self) -> tuple[SitemapEntry, ...]:
        """It, once, where it has an address."""
        url, self.url = self.url or self.guid, ""
        self.guid = ""
        return (SitemapEntry(url, self.lastmod, self.is_sitemap),) if url else ()


def _last_start(text: str) -> int:
    """Where the last thing begins whose end may not have come: a tag, with the element whose text it ends; CDATA, a
    comment."""
    end = text.rfind("<")
    for start, finish in (_CDATA, _COMMENT):
        at = text.find(start, text.rfind(finish) + 1)
        if at >= 0:
            end = min(end, at)
    if end == len(text) - 1 or text.startswith("<!", end):  # part of an element's text: begin with that
        end = text.replace("<!", "  ").rfind("<", 0, max(end, 0))
    return max(end, 0)


def _shown(text: str) -> str:
    """*text* without comments; of CDATA the text, unless it is markup: that of a page, in a feed."""
    if "<!" not in text:
        return text
    return _without(_without(text, _COMMENT, keep=False), _CDATA, keep=True)


def _without(text: str, marks: tuple[str, str], *, keep: bool) -> str:
    parts, at = list[str](), 0
    start, finish = marks
    while (begin := text.find(start, at)) >= 0 and (end := text.find(finish, begin + len(start))) >= 0:
        inner = text[begin + len(start) : end]
        parts += text[at:begin], inner if keep and "<" not in inner else ""
        at = end + len(finish)
    return "".join((*parts, text[at:]))


def _decoder(head: bytes) -> codecs.IncrementalDecoder:
    name = charsets.declared(None, head) if head[:1] in {b"\xef", b"\xfe", b"\xff"} else None
    if name is None and b"\0" in head[:4]:
        name = "utf-16-le" if head[1:2] == b"\0" else "utf-16-be"
    if name is None and (found := _DECLARED.search(head[:HEAD])):
        name = charsets.as_written(charsets.LABELS.get(found[1].decode().lower()))
    return codecs.getincrementaldecoder(name or "utf-8")("replace")


def _unescaped(text: str) -> str:
    """*text* with XML's own entities as what they stand for; an `&` that begins none of them stays."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(found: re.Match[str]) -> str:
    if found[3]:
        return _ENTITIES[found[3]]
    code = int(found[1], 16) if found[1] else int(found[2])
    return chr(code) if 32 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
