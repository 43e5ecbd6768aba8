"""Who has written a page, by JSON-LD, meta elements, or what is marked as a byline."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final
from unicodedata import combining, normalize
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from crawler.extraction.content import dates, near_heading
from crawler.extraction.content.entries import place_of, without_entries
from crawler.extraction.content.marks import BITS, bits_of
from crawler.extraction.content.page_kind import SHOPS, Kind
from crawler.extraction.content.passages import Passage
from crawler.extraction.structured import site_names
from crawler.extraction.tree.document import Document
from crawler.extraction.tree.nodetext import around, parts_of, text_of
from crawler.extraction.words import values
from crawler.extraction.words.counting import WORD
from crawler.utils.entities import unescape

LONGEST_NAME: Final = 100  # characters
MANY_AUTHORS: Final = 10
MANY_BYLINES: Final = 20
BELOW_HEADING: Final = 6  # passages that may begin with "by" and a name
LONGEST_LINE: Final = 20  # words of them
MOST_WORDS: Final = 5  # of a person's name
LONGEST_UNCASED: Final = 24  # characters of one in a script without capitals
LEVELS: Final = 8  # of elements around a byline whose names are read

_COMMENTS: Final = BITS["comm"] | BITS["talk"]
_META: Final = BITS["meta"]  # a row above a text that says how many comments there are has both

_AUTHORS: Final = str.split(
    """
    author article:author parsely-author dc.creator dcterms.creator dc.contributor sailthru.author byl
    citation_author twitter:creator
    """
)
_BY = re.compile(
    r"^\W*(?:(?:written|posted|published|reviewed|edited|words?|text[eo]?|geschrieben|veröffentlicht|verfasst|écrit|publié"
    r"|rédigé|escrito|publicado|scritto|pubblicato|geschreven|skrevet|skriven)\s+)?"
    r"(?:by|von|par|por|di|av|(?-i:Af)|(?<=\s)af|door|przez|بقلم|كتب)\b\W*"
    r"|^\W*oleh\s*[:：]\s*"  # without a colon it is a first name
    r"|^\W*(?:recipe |本文)?(?:author|autor(?:in|ka|es)?|auteurs?|autrice|autore|författare|автор|作者|著者|저자|작성자"
    r"|الكاتب)[:：]\s*",
    re.IGNORECASE,
)
_NUMBERS = re.compile(  # behind a name: a date, what a forum counts; not `Group of 20 (G20)`
    r"\s+\W*\d+(?:[./:-]\d|[.,]?\s\w.*?\d).*$"
)
_END: Final = re.compile(r"\s+[-–—|·•]\s+|,\s+|\s+(?=\d)")  # of a name in a line
_NAMED_FOR = re.compile(  # a word of a class: not `hide-author`, `author-ann` on the whole page, `author-title`
    r"(?<!hide-)(?<!show-)(?<!about-)(?:[aA]uthor(?:[-_]{0,2}(?:[nN]ame|info))?|byline(?:[-_]{0,2}name)?|user-name)(?!\S)"
)
_LABELS: Final = frozenset(  # words of what else stands there: `About the Author`, `View All Posts`, `Log In`
    str.split("about all article articles author authors editor editors follow log posts share sign staff user writer")
)
_PARTICLES: Final = frozenset(str.split("al bin d da de del della den der di dos du el la le ten ter van von y zu"))
_SUFFIXES: Final = frozenset(("Jr.", "Jr", "Sr.", "Sr", "II", "III"))
_HEADINGS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_NO_NAME = re.compile(
    r"https?:|www\.|@[\w-]+\.|[{}<>|\\]|^(?:admin|administrator|author|unknown|editor|null|undefined)$", re.IGNORECASE
)
# Selectors, each with one for what is in such an element: `.byline a` would climb the whole tree from each link.
_BYLINES: Final = (
    ("[itemprop~=author]", "[itemprop=name]"), ("[itemprop=author]", ""), ("a[rel~=author]", ""), (".author-name", ""),
    (".byline__name", ""), (".post-author", ""), (".entry-author", ""), (".byline", "a"), (".author", "a"),
    (".byline", ""), (".author", ""), (".createdby", ""),
)  # fmt: skip
_ANY_BYLINE: Final = (  # what the others have in common
    "[itemprop~=author],[rel~=author],[class*=uthor],[class*=byline],.createdby,[data-testid*=uthor],[data-hook=user-name]"
)
_NAMED: Final = "[class*=uthor],[class*=byline],[data-testid*=uthor],[data-hook=user-name]"  # whatever else they say


def author(
    document: Document, metas: Mapping[str, str], works: Sequence[dict[str, Any]], kind: Kind, found: Sequence[Passage]
) -> str | None:
    """The first author that is stated or shown, not the site itself if anybody else is."""
    first: str | None = None
    for name in _authors(document, metas, works, kind):
        is_more = first is not None and any(map(str.isdigit, name))  # such as the time of a comment
        if not (is_more or site_names.is_site(name, document)):
            return _without_numbers(name)
        first = first or name
    return first or next(_likely(document, kind, found), None)


def _authors(
    document: Document, metas: Mapping[str, str], works: Sequence[dict[str, Any]], kind: Kind
) -> Iterator[str]:
    for work in works:
        if names := _names(work.get("author") or work.get("creator")):
            yield ", ".join(names)
    for name in _AUTHORS if kind != "forum" else ():
        if (value := _name(metas.get(name, ""))) and not value.startswith("@"):
            yield value
    if kind in SHOPS or document.once(_has_byline) is False:
        return
    for css, inner in _BYLINES:
        node = next(_bylines(document, css, inner, kind), None)
        name = _name(node.attributes.get("content") or text_of(node, 300)) if node is not None else ""
        if node is not None and name:
            yield _without_role(name, _address(node) if ", " in name else "")


def _has_byline(document: Document) -> bool:
    return document.first(_ANY_BYLINE) is not None


def _likely(document: Document, kind: Kind, found: Sequence[Passage]) -> Iterator[str]:
    """Persons' names in elements that are somehow named for an author, then in a line below the heading."""
    if kind in SHOPS:
        return
    nodes = document.tree.css(_NAMED)[:MANY_BYLINES] if document.once(_has_byline) else []
    for node in without_entries([node for node in nodes if _is_named(node)]):
        whole = text_of(node, 300)
        if len(whole) <= LONGEST_NAME and not _is_in_comments(document, node):
            yield from filter(_is_persons, map(_name, (*islice(parts_of(node, 300), MOST_WORDS), whole)))
    yield from _by_heading(kind, found)


def _is_named(node: LexborNode) -> bool:
    names = " ".join(node.attributes.get(each) or "" for each in ("class", "data-testid", "data-hook"))
    return _NAMED_FOR.search(names[:400]) is not None


def _bylines(document: Document, css: str, inner: str, kind: Kind) -> Iterator[LexborNode]:
    """The elements of *css*, or the first of *inner* in each.

    Those of comments only if they are the page, those of a list's entries not on a page of no stated kind.
    """
    nodes = document.tree.css(css)[:MANY_BYLINES]
    if kind == "other":
        nodes = without_entries(nodes)
    found = (node.css_first(inner) for node in nodes) if inner else nodes
    named = (node for node in found if node is not None)
    return (node for node in named if kind == "forum" or not _is_in_comments(document, node))


def _by_heading(kind: Kind, found: Sequence[Passage]) -> Iterator[str]:
    """A line below the heading that begins with "by" and a person's name, in an article or before a date."""
    head = near_heading.place(found)
    for each in found[head + 1 : head + 1 + BELOW_HEADING]:
        written, *others = _END.split(each.text[: 4 * LONGEST_NAME], maxsplit=1) if _is_by(each) else [""]
        is_sure = kind == "article" or 0 < each.linked < each.words or dates.is_dated("".join(others))
        if is_sure and _is_persons(name := _name(written)) and not _has_another(found, each):
            yield name


def _has_another(found: Sequence[Passage], line: Passage) -> bool:
    """Whether another byline has the place of *line*: those of entries."""
    place = place_of(line)
    return any(place_of(each) == place and each.text != line.text and _is_by(each) for each in found)


def _is_by(passage: Passage) -> bool:
    is_line = passage.words <= LONGEST_LINE and passage.box.tag not in _HEADINGS and not passage.is_prose
    return is_line and _BY.match(passage.text) is not None


def _is_persons(name: str) -> bool:
    """Whether *name* is written as that of a person: words that begin with a capital, or in a script without any."""
    words = name.split()
    if any(map(str.isdigit, name)) or not words or name[-1] in ".!?:" or len(words) > MOST_WORDS:
        return False
    if not any(map(str.islower, name)) and not any(map(str.isupper, name)):
        return len(name) <= LONGEST_UNCASED
    named = [each for each in words if each.lower() not in _PARTICLES]
    return len(named) > 1 and all(each[:1].isupper() and each.lower() not in _LABELS for each in named)


def _is_in_comments(document: Document, node: LexborNode) -> bool:
    """Whether *node* is in what readers say of the page, by the names of the elements around it."""
    named = (
        each for each in around(node, LEVELS) if (bits := bits_of(each.attributes)) & _COMMENTS and not bits & _META
    )
    return any(not _is_headed(document, each) for each in named)


def _is_headed(document: Document, element: LexborNode) -> bool:
    """Whether the page's own heading is in *element*: then it is the page, which is open for comments."""
    if element.css_first("h1") is not None:
        return True
    title = " ".join(document.written_title.split())
    return any(
        heading and heading in title for heading in (text_of(h, 300) for h in element.css("h2,h3")[:MANY_BYLINES])
    )


def _names(value: Any) -> list[str]:
    names: list[str] = []
    for each in (value if isinstance(value, list) else [value])[:MANY_AUTHORS]:
        stated = each.get("name") if isinstance(each, dict) else each
        stated = stated[0] if isinstance(stated, list) and stated else stated
        name = _name(stated) if isinstance(stated, str) else ""
        if name and name not in names:
            names.append(name)
    return names


def _name(text: str) -> str:
    """*text* as a name, without that of a site behind it (`Ann Lee | Kitchen Notes`), or ""."""
    written = " ".join(unescape(values.paired(text[: 4 * LONGEST_NAME])).split()).partition(" | ")[0]
    name = _BY.sub("", written).strip(" ,;:–—-")
    return name if 1 < len(name) <= LONGEST_NAME and len(name.split()) <= 12 and not _NO_NAME.search(name) else ""


def _address(node: LexborNode) -> str:
    """Where the byline *node* or the first link in it leads to."""
    link = node if node.tag == "a" else node.css_first("a[href]")
    return (link.attributes.get("href") or "") if link is not None else ""


def _without_role(name: str, address: str) -> str:
    """*name* without a place, a degree or a role behind its comma: `Ann Lee, Oslo`; not of `Lee, Ann`.

    Nor of `Pardo Lee, Ann` if the *address* of her page begins with her given name: `/author/ann-pardo-lee`.
    """
    first, *others = name.split(", ")
    if not others or not _is_persons(first) or _is_family_first(first, others, unquote(address)):
        return name
    kept = (each for each in others if each in _SUFFIXES or _is_persons(each.removeprefix("and ")))
    return ", ".join([first, *kept])


def _is_family_first(family: str, given: Sequence[str], address: str) -> bool:
    """Whether a part of *address* has the whole name, in its usual order or with the comma: no role, no place."""
    forms = [" ".join([*_plain(" ".join(given)), *_plain(family)])]
    if "," in address:
        forms.append(" ".join([*_plain(family), *_plain(" ".join(given))]))
    parts = [f" {' '.join(_plain(part))} " for part in address.split("/")]
    return any(f" {form} " in part for form in forms for part in parts)


def _plain(text: str) -> list[str]:
    """The words of *text* in lower case, without accents."""
    return WORD.findall("".join(each for each in normalize("NFKD", text[:400].lower()) if not combining(each)))


def _without_numbers(name: str) -> str:
    return _NUMBERS.sub("", name).strip(" ,;:–—-") or name
