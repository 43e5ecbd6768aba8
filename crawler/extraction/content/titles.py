"""A page's title: its heading, as far as <title> or og:title confirm it, or what these say of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import attrgetter
from typing import Final
from urllib.parse import unquote

from crawler import urls
from crawler.extraction.content.marks import BITS, READING
from crawler.extraction.content.page_kind import Kind
from crawler.extraction.content.passages import Box, Passage
from crawler.extraction.structured import site_names
from crawler.extraction.structured.site_names import squeezed
from crawler.extraction.tree.document import Document
from crawler.extraction.tree.nodetext import text_of
from crawler.extraction.words.counting import WORD

LONGEST: Final = 300  # characters of a heading
MOST: Final = 5  # headings
SHORT: Final = 3  # letters of a word that says little: `de`, `the`
_TITLES: Final = ("og:title", "twitter:title", "dc.title", "citation_title")
_SEPARATOR: Final = re.compile(r"\s+[|–—·•»«:/-]\s+|\s*[|｜»]\s*")
_PIPE: Final = re.compile(r"\s*[|｜]\s*")
# Whatever parts it: `Knives ⋆ Acme`, `Knives [Acme]`, `Knives, page 2`; not the hyphen in `Knives-to-go`.
_ENDS_PART: Final = re.compile(r"(?:^|[^\w\s&'’\"“”#$€£-]|_|\s-|[^\x00-\u02ff]-)\s*$")
_BEGINS_PART: Final = re.compile(r"\s*(?:$|[^\w\s&'’\"“”#$€£-]|_|--|-\s|-(?=[^\x00-\u02ff]))")
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
    headings = [*islice(_headings(found, parts[0]), MOST)]
    for heading in headings:
        words = set(WORD.findall(heading.lower()))
        if words and squeezed(heading) != squeezed(site) and 2 * len(words & known) >= len(words):
            name = _without_label(site_names.without_site(heading, document) if site else heading, known)
            is_stated = kind not in _UNSTATED or squeezed(name) == squeezed(stated)
            return name if is_stated else _longer(name, parts[0], written, kind, document)
    if len(headings) == 1 and len(WORD.findall(headings[0])) > 1:
        return headings[0]
    return _before_pipe(_bare(stated or written, site) or _bare(written, site), document) or None


def _headings(found: Sequence[Passage], wanted: str) -> Iterator[str]:
    """The texts of the <h1>; of one that holds several blocks that which is *wanted*, alone or with the others, else
    its own text."""
    for box, blocks in groupby(filter(attrgetter("is_main_heading"), found), _heading_of):
        inside = [*blocks]
        texts = [each.text for each in inside]
        if len(texts) > 1 and box.tag == "h1":
            known = [each for each in (" ".join(texts), *texts) if squeezed(each) == squeezed(wanted)]
            texts = known[:1] or [each.text for each in inside if each.box is box]
        yield from (text for text in texts if len(text) <= LONGEST)


def _heading_of(block: Passage) -> Box:
    """The <h1> that *block* is or stands in."""
    return block.box if block.box.tag == "h1" or block.box.parent is None else block.box.parent


def _longer(heading: str, part: str, written: str, kind: Kind, document: Document) -> str:
    """*heading*, or the first *part* of the *written* title that says the same and more: `Reviews of our classes`.

    In shops it may say it in other words. Not if the title has the heading between its separators, or adds only a label
    of lists (`Knives Archives`), short words, numbers, or the site's name or address.
    """
    words, others = set(WORD.findall(heading.lower())), WORD.findall(part.lower())
    shared = words.intersection(others)
    is_same = len(shared) == len(words) or (kind == "shop" and 2 * len(shared) >= len(words))
    more = [each for each in others if each not in words]
    if not is_same or len(set(others)) <= len(words) or _is_part(heading, written) or _says_nothing(more, document):
        return heading
    is_sites = (
        site_names.is_site(part, document) or urls.registrable(urls.split(document.url).hostname or "") in part.lower()
    )
    return heading if is_sites else part


def _says_nothing(words: Sequence[str], document: Document) -> bool:
    """Whether *words* are short ones, labels of lists, numbers, or the site's name."""
    others = [each for each in words if len(each) > SHORT and each not in _LISTS and not each.isdecimal()]
    return not others or site_names.is_site(" ".join(words), document)


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
        tag = "h1" if each.is_main_heading else each.box.tag
        if tag in _HEADINGS:
            text = each.text.lower()
            if tag in below and text == wanted:
                return each.text
            if tag == "h1":
                is_name = not each.around & _OWN and (each.around & _HEADER or text == last != wanted)
                below |= _HEADINGS if is_name else {"h1"}
            if text == wanted:
                return None
        elif below and each.is_prose:
            return None
    return None


def _before_pipe(title: str, document: Document) -> str:
    """*title* up to its first pipe, which parts it from a slogan or a name; not if the site's or one word is before, or
    the page's address has only words from behind it."""
    title = title.strip(" |｜")
    first, *others = _PIPE.split(title)
    address = set(WORD.findall(unquote(urls.split(document.url).path).lower().replace("_", " ")))
    before, behind = (len(address.intersection(WORD.findall(each.lower()))) for each in (first, " ".join(others)))
    is_name = (behind and not before) or len(WORD.findall(first)) < 2 or site_names.is_site(first, document)
    return title if is_name else first


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
