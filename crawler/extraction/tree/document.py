"""One page as the readers use it: decoded once, parsed once, each part on first use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import urlsplit

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from crawler.errors import MessageError
from crawler.extraction.scripts import attributes, state, state_prices
from crawler.extraction.source import source, tame
from crawler.extraction.source.source import COMMENT, Source
from crawler.extraction.tree.base_url import BaseUrl, join
from crawler.extraction.tree.nodetext import HIDDEN
from crawler.extraction.words.currencies import page_country
from crawler.urls import check, same_site, without_credentials
from crawler.utils import charsets
from crawler.utils.entities import unescape
from crawler.utils.lazy import cached_property

HEAD_CHARACTERS = 60_000  # searched for <base> and rel=canonical without a tree
MAX_TEXTS = 40_000  # text nodes read from a page; more means logs and generated lists, not products

# What a script writes is no comment, where the markup has kept it.
_COMMENT = re.compile(rf"(?i)<(?:(script\b[^<]*+(?:<(?!/script)[^<]*+)*+)|{COMMENT}(?:--!?>)?)")
_LANGUAGE = re.compile(r"<html\b[^<>]{0,2000}?[\s\"':]lang\s*=\s*[\"']?([\w-]{1,35})", re.IGNORECASE)
_CODE = re.compile(r"[a-z]{2,3}(?![^\W_])")
# Letters of simplified Chinese that neither Japanese nor traditional Chinese uses.
_SIMPLIFIED = re.compile(
    "[们这说话请货购价电见车东马鸟鱼门问间关开风飞长张轮钢铁银铝锅锁镜饭饮馆页顶领颜额频红绿纸线细结给网袜裤护质贴费赠运选业专丝两"
    "丽乐书买卖仅仓传净减压头夹婴宽导层币带帮应录总扫损摄时显权枪标样汤测热爱环现监盘码积笔签简纯纱纹]"
)
_TITLE = re.compile(r"<title(?:\s[^>]{0,400}+)?>([^<]{1,2000}+)</title", re.IGNORECASE)
_LINK = re.compile(r"<link\b[^>]{0,4000}>", re.IGNORECASE)
_BASE = re.compile(r"<base\b[^>]{0,2000}>", re.IGNORECASE)
_CANONICAL = re.compile(r"\brel\s*=\s*[\"']?canonical\b", re.IGNORECASE)
_FRONT = re.compile(  # the path of a front page, also of a language or country, not of what shops name in two letters
    r"(?:/(?!(?:av|cd|hd|pc|tv|vr|xr)(?![^/]))[a-z]{2}(?:[-_][a-z]{2})?){0,2}(?:/(?:(?:index|default)\.\w{2,5})?)?",
    re.IGNORECASE | re.ASCII,
)
_NO_URL = re.compile(r"[<>{}|\\^`\[\]\"]|/(?:undefined|null|none|nan|true|false)/?$", re.IGNORECASE)  # in the path
_HREF = re.compile(r"(?<![\w:-])href\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)


R = TypeVar("R")


class Document:
    """A page and its URL.

    `html` is text, or bytes whose charset is taken from the byte order mark, *content_type* (the value of
    that HTTP header), the page's own meta element, then UTF-8, with Windows-1252 for what is not UTF-8; only
    encodings of the WHATWG Encoding Standard count. All readers share the tree, so none may change it.
    """

    def __init__(self, html: str | bytes, url: str, content_type: str | None = None) -> None:
        self.url = without_credentials(url)
        self.html = charsets.decode(html, content_type) if isinstance(html, bytes) else html
        self._read: dict[Callable[[Document], Any], Any] = {}

    def once(self, read: Callable[[Document], R]) -> R:
        """What *read* finds on this page, found once."""
        if read not in self._read:
            self._read[read] = read(self)
        found: R = self._read[read]
        return found

    @cached_property
    def source(self) -> Source:
        """The page's scripts, and its markup without them."""
        return source.read(self.html)

    @property
    def states(self) -> Iterator[Any]:
        """JSON in its scripts (see state.py) and attributes, each kind read once it is asked for; a page that is JSON
        itself is its only state."""
        if self.is_json:
            yield self._json
            return
        yield from self._states
        yield from self._in_attributes
        yield from self._unpriced_states[: max(state.MAX_STATES - len(self._states), 0)]

    @cached_property
    def _states(self) -> list[Any]:
        return state.states(self.html, self.source.scripts)

    @cached_property
    def _in_attributes(self) -> list[Any]:
        return attributes.states(self.markup)

    @cached_property
    def _unpriced_states(self) -> list[Any]:
        return state.unpriced(self.html, self.source.scripts)

    @cached_property
    def priced_states(self) -> list[Any]:
        """Those that may hold a price."""
        if self.is_json:
            return [self._json]
        in_scripts = state.states(self.html, self.source.scripts, state_prices.may_be_in)
        return [*in_scripts, *attributes.states(self.markup, attributes.may_have_price)]

    @property
    def is_json(self) -> bool:
        """Whether the page is a JSON object or list."""
        return self._json is not None

    @cached_property
    def _json(self) -> Any:
        return state.whole(self.html)

    @property
    def markup(self) -> str:
        """The source without the content of scripts and styles."""
        return self.source.markup

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """The parsed page; scripts and styles are empty elements."""
        without_events = LexborDocumentOptions.WO_EVENTS  # with them each <option> is compared with all others
        return LexborHTMLParser(self._calm, options=without_events)

    @property
    def has_tree(self) -> bool:
        """Whether the tree has been built."""
        return "tree" in self.__dict__

    def parse(self) -> None:
        """Build the tree, for readers that otherwise read the source."""
        self.tree  # noqa: B018

    @property
    def is_doubtful(self) -> bool:
        """Whether the page had to be tamed before parsing (see tame.py): it may use other tricks too."""
        return self._calm is not self._encoded[0]

    @cached_property
    def _calm(self) -> bytes:
        page, is_whole = self._encoded
        return tame.tamed(page, self.source.strays if is_whole else None)

    @cached_property
    def _encoded(self) -> tuple[bytes, bool]:
        """The markup, and whether that is all of it: half of a surrogate pair is lost, and may part a tag's name."""
        try:
            return self.markup.encode(), True
        except UnicodeEncodeError:
            return self.markup.encode(errors="ignore"), False

    @cached_property
    def head(self) -> str:
        """The start of the markup up to <body>, of HEAD_CHARACTERS at most, without comments: they state nothing."""
        start = self.markup[: self.body_at]
        return _COMMENT.sub(lambda found: found[0] if found[1] else "", start) if "<!--" in start else start

    @cached_property
    def body_at(self) -> int:
        """Where <body> begins in the markup; HEAD_CHARACTERS if it is not found before."""
        end = self.markup.find("<body", 0, HEAD_CHARACTERS)
        return end if end >= 0 else HEAD_CHARACTERS

    @cached_property
    def written_title(self) -> str:
        """The page's title as its source has it, read without a tree; empty if there is none."""
        found = _TITLE.search(self.head)
        return unescape(found[1]) if found else ""

    @cached_property
    def heading_at(self) -> int:
        """Where the first h1 begins in the markup; -1 without one."""
        return self.markup.find("<h1")

    @cached_property
    def language(self) -> str:
        """The page's declared language (`de`, `fr-CH`), or ""."""
        match = _LANGUAGE.search(self.head)
        return match[1].lower() if match else ""

    @property
    def language_code(self) -> str:
        """The language alone (`de`), in two letters or three, as ISO 639 has it; "" if nothing of that form is
        declared."""
        found = _CODE.match(self.language)
        return found[0] if found else ""

    @cached_property
    def country(self) -> str:
        """The two-letter country that the page addresses, or "": it resolves shared currency symbols and words."""
        is_chinese = not self.language and _SIMPLIFIED.search(self.written_title) is not None
        return page_country(self.url, "zh" if is_chinese else self.language)

    @cached_property
    def base(self) -> BaseUrl:
        """What its relative links start from: <base href>, else the page's URL."""
        stated = next(filter(None, map(_href, _BASE.findall(self.head))), "")
        return BaseUrl(self.url, (stated and join(self.url, stated)) or self.url)

    @cached_property
    def canonical_url(self) -> str:
        """The page's rel=canonical if it is within the page's own site, else its URL.

        A canonical link to another site is ignored (it would let one site overwrite another's documents). So are common
        template errors: one to the front page, also of a language, from another page, a sentence or an unfilled
        placeholder instead of a URL.
        """
        target = self.declared_url
        if target and same_site(target, self.url) and _same_depth(target, self.url) and _is_whole(target):
            return target
        return self.url

    @cached_property
    def declared_url(self) -> str | None:
        """The absolute URL of rel=canonical, of any site, or None."""
        for link in _LINK.findall(self.head):
            if "canonical" in link.lower() and _CANONICAL.search(link) and _HREF.search(link):
                return join(self.base.url, _href(link))
        return None

    @cached_property
    def texts(self) -> list[tuple[str, LexborNode]]:
        """Every visible text with its element, in document order, white space trimmed."""
        return list(islice(visible_texts(self.nodes()), MAX_TEXTS))

    def absolute(self, href: str | None) -> str | None:
        """*href* as an absolute http(s) URL without fragment, or None if that is impossible."""
        return self.base.absolute(href)

    def first(self, css: str) -> LexborNode | None:
        return self.tree.css_first(css)

    def nodes(self) -> Iterator[LexborNode]:
        """The elements and texts of its body, in document order."""
        root = self.tree.body or self.tree.root
        yield from root.traverse(include_text=True, skip_empty=True) if root is not None else ()


def visible_texts(nodes: Iterable[LexborNode]) -> Iterator[tuple[str, LexborNode]]:
    """The visible texts of *nodes*, white space trimmed, each with its element."""
    for node in nodes:
        content = node.text_content
        if (
            content
            and (text := content.strip())
            and (parent := node.parent) is not None
            and parent.tag_id not in HIDDEN
        ):
            yield text, parent


def _href(element: str) -> str:
    """What the start tag of *element* refers to; "" if to nothing."""
    found = _HREF.search(element)
    return unescape(found[1] or found[2] or found[3] or "") if found else ""


def _same_depth(target: str, url: str) -> bool:
    path, query = urlsplit(target)[2:4]
    is_script = query and "." in path  # that shows any page: index.php?id=1
    return bool(is_script or not _FRONT.fullmatch(path) or _FRONT.fullmatch(urlsplit(url).path))


def _is_whole(target: str) -> bool:
    """Whether it is a plausible URL of a page."""
    try:
        return _NO_URL.search(urlsplit(check(target)).path) is None
    except (MessageError, ValueError):
        return False
