"""A page's title: its heading, as far as <title> or og:title confirm it, or what these say of the page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from crawler import urls
from crawler.extraction.content.marks import BITS, READING
from crawler.extraction.content.page_kind import Kind
from crawler.extraction.content.passages import Passage
from crawler.extraction.structured import site_names
from crawler.extraction.structured.site_names import squeezed
from crawler.extraction.tree.document import Document
from crawler.extraction.tree.nodetext import text_of
from crawler.extraction.words.counting import WORD

_TITLES: Final = ("og:title", "twitter:title", "dc.title", "citation_title")
_SEPARATOR: Final = re.compile(r"\s+[|–—·•»«:/-]\s+|\s*[|｜»]\s*")
_PIPE: Final = re.compile(r"\s*[|｜]\s*")
_ENDS_PART: Final = re.compile(r"(?:\s[|–—·•»«:/-]|[|｜»:]|^)\s*$")
_BEGINS_PART: Final = re.compile(r"\s*$|\s+[|–—·•»«:/-]\s|\s*[|｜»:]")
_LISTS: Final = frozenset(READING["lists"].split())
_HEADER: Final = BITS["header"] | BITS["nav"]
_HEADINGS: Final = frozenset(("h1", "h2", "h3"))
_OWN: Final = BITS["main"] | BITS["article"]
_UNSTATED: Final = frozenset(("other", "shop"))  # kinds of pages whose heading may be a word of a menu: `Reviews`


def title(document: Document, metas: Mapping[str, str], kind: Kind, found: Sequence[Passage]) -> str | None:
    """The heading, if <title> or og:title confirms it; else these without the site's name."""
    node = document.first("title:not(svg *)")  # which an icon has, too
    written = " ".join(text_of(node, 1_000).split()) if node is not None else ""
    stated = next((" ".join(metas[name].split()) for name in _TITLES if metas.get(name)), "")
    site = " ".join(metas.get("og:site_name", "").split())
    parts = _SEPARATOR.split(written)
    if heading := _below_a_name(found, parts, site):
        return heading
    known = set(WORD.findall(f"{written} {stated}".lower()))
    headings = [each.text for each in found if each.is_main_heading and len(each.text) <= 300][:5]
    for heading in headings:
        words = set(WORD.findall(heading.lower()))
        if words and squeezed(heading) != squeezed(site) and 2 * len(words & known) >= len(words):
            name = _without_label(site_names.without_site(heading, document) if site else heading, known)
            return _longer(name, parts[0], written, kind, document) if kind in _UNSTATED else name
    if len(headings) == 1 and len(WORD.findall(headings[0])) > 1:
        return headings[0]
    return _before_pipe(_bare(stated or written, site) or _bare(written, site), document) or None


def _longer(heading: str, part: str, written: str, kind: Kind, document: Document) -> str:
    """*heading*, or the first *part* of the *written* title that says the same and more: `Reviews of our classes`.

    In shops it may say it in other words. Not if the title has the heading between its separators, adds a label of
    lists only (`Knives Archives`) or the site's address.
    """
    words, others = set(WORD.findall(heading.lower())), set(WORD.findall(part.lower()))
    is_same = words <= others or (kind == "shop" and 2 * len(words & others) >= len(words))
    if not is_same or len(others) <= len(words) or others - words <= _LISTS or _is_part(heading, written):
        return heading
    is_sites = (
        site_names.is_site(part, document) or urls.registrable(urls.split(document.url).hostname or "") in part.lower()
    )
    return heading if is_sites else part


def _is_part(heading: str, title: str) -> bool:
    """Whether *heading* stands in *title* between its separators or colons."""
    before, found, after = title.lower().partition(heading.lower())
    return bool(found and _ENDS_PART.search(before) and _BEGINS_PART.match(after))


def _without_label(heading: str, known: set[str]) -> str:
    """*heading* without the label of a list that has no *known* word of the title: `Category: x`."""
    label, _, name = heading.partition(": ")
    words = set(WORD.findall(name.lower()))
    return name if words and words <= known and label.lower() in _LISTS - known else heading


def _below_a_name(found: Sequence[Passage], parts: Sequence[str], site: str) -> str | None:
    """The heading with the words of the first of the title's *parts* below another h1, of a site, a book or a forum.

    No prose stands between the two. An h2 or h3 only below one outside of the page's own part, in
    its header or called as the title ends: others are the page's own, and the h2 is of a part of it.
    """
    below, wanted, last = set[str](), parts[0].lower(), parts[-1].lower()
    for each in found if wanted != site.lower() else ():
        if each.box.tag in _HEADINGS:
            text = each.text.lower()
            if each.box.tag in below and text == wanted:
                return each.text
            if each.box.tag == "h1":
                is_name = not each.around & _OWN and (each.around & _HEADER or text == last != wanted)
                below |= _HEADINGS if is_name else {"h1"}
            if text == wanted:
                return None
        elif below and each.is_prose:
            return None
    return None


def _before_pipe(title: str, document: Document) -> str:
    """*title* up to its first pipe, which parts it from a slogan or a name; not if the site's or one word is before."""
    title = title.strip(" |｜")
    first = _PIPE.split(title)[0]
    return first if len(WORD.findall(first)) > 1 and not site_names.is_site(first, document) else title


def _bare(title: str, site: str) -> str:
    """*title* without the site's name at its end or start."""
    parts = _SEPARATOR.split(title)
    if len(parts) < 2:
        return title
    if site and parts[-1].lower() == site.lower():
        return title[: title.rfind(parts[-1])].rstrip(" |｜–—·•»«:/-")
    if site and parts[0].lower() == site.lower():
        return title[title.find(parts[0]) + len(parts[0]) :].lstrip(" |｜–—·•»«:/-")
    last = max((match for match in _SEPARATOR.finditer(title)), key=lambda match: match.start())
    return title[: last.start()] if len(title) - last.end() < last.start() else title
