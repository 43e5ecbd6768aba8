"""The words of a passage and the inline elements in them as Markdown: emphasis, links, images, code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final
from unicodedata import category
from urllib.parse import quote

from crawler.extraction.content.passages import Passage, Piece
from crawler.extraction.content.pictures import address_of
from crawler.extraction.tree.document import Document

MAX_LEVELS: Final = 12  # of elements

_SIGNS: Final = {"em": "*", "strong": "**", "del": "~~", "q": '"'}
_BY_SIGN: Final = (frozenset(("em", "/em", "strong", "/strong")), frozenset(("del", "/del")))
_RUNS: Final = frozenset(("em", "strong", "del", "code"))  # of which two would have their signs side by side
_NOT_IN_CODE: Final = ("a", "/a", "img")
_CODE, _END_OF_CODE = ("code", ""), ("/code", "")
_TICKS: Final = re.compile("`+")
# What means something anywhere: but no `_` in a word, no entity that is none.
_MEANT: Final = re.compile(r"[\\`*\[\]<|~_#&](?:(?<=[^_#&])|(?<=_)_*+|(?<=#)(?!\w)|(?<=&)(?=#?\w{1,40};))")
_IN_WORD: Final = re.compile(r"(?<=[^\W_])_++(?=[^\W_])")
_NO_ADDRESS: Final = re.compile(r"[\s<>]")  # what would end one
_MEANT_IN_ADDRESS: Final = re.compile(r"\\|&(?=#?\w{1,40};)")
_PAIRED: Final = re.compile(r"(?:[^()]|\([^()]*\))*+")
_AT_START: Final = re.compile(r"\d{1,9}(?=[.)](?:\s|$))|(?=[-+=>]|#\w)")


def link_of(document: Document, target: str) -> str | None:
    """The absolute URL of a link, None for one to nowhere or to a place in the page itself (`#note`)."""
    address = document.absolute(target)
    return None if address is None or ("#" in target and address == document.absolute(document.url)) else address


def inline(document: Document, passage: Passage, images: bool) -> str:
    """Its Markdown, in one line; what would mean something at its start only is not escaped."""
    if len(passage.pieces) == 1 and passage.text:
        return _escaped(passage.text)
    parts = _parts(document, passage.pieces, images)
    for tags in _BY_SIGN * 2:  # what goes may leave another stuck
        stuck = () if tags.isdisjoint([each[0] for each in parts]) else set(_stuck(parts, tags))
        parts = _joined([each for at, each in enumerate(parts) if at not in stuck]) if stuck else parts
    return " ".join(_written(parts).split())


def escaped_start(line: str) -> str:
    """*line* with an escape where it would begin an item, a heading or a quotation."""
    start = _AT_START.match(line)
    return f"{start[0]}\\{line[start.end() :]}" if start else line


def _escaped(text: str) -> str:
    return _MEANT.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    signs = found[0]
    is_in_word = signs[0] == "_" and _IN_WORD.match(found.string, found.start())
    return signs if is_in_word else "\\" + "\\".join(signs)


def _parts(document: Document, pieces: Sequence[Piece], images: bool) -> list[Piece]:
    """The texts that are not empty and the elements that are kept, properly nested, with what they lead to."""
    parts: list[Piece] = []
    open_: list[str] = []
    for piece in pieces:
        tag = piece[0] if type(piece) is tuple else ""
        if not tag:
            parts.extend([piece] if piece else ())
        elif tag == "img":
            image = _image(document, piece[1]) if images else ""
            parts.extend(_placed(tag, image, open_) if image else ())
        elif tag[0] == "/":
            if open_ and open_[-1] == tag[1:]:
                open_.pop()
                parts.extend(_placed(tag, "", open_))
        elif len(open_) < MAX_LEVELS and _begins(document, parts, open_, tag, piece[1]):
            open_.append(tag)
    return _joined([*parts, *((f"/{tag}", "") for tag in reversed(open_))])


def _joined(parts: Sequence[Piece]) -> list[Piece]:
    """*parts* without elements that nothing is in; one right behind another of its kind goes on with that."""
    joined: list[Piece] = []
    for part in parts:
        last = joined[-1] if joined else ""
        is_empty = isinstance(last, tuple) and part[0] == f"/{last[0]}"
        if is_empty or (part[0] in _RUNS and last == (f"/{part[0]}", "")):
            joined.pop()
        else:
            joined.append(part)
    return joined


def _begins(document: Document, parts: list[Piece], open_: Sequence[str], tag: str, target: str) -> bool:
    """Whether an element is kept: one in another of its kind is none."""
    address = link_of(document, target) if tag == "a" else ""
    if address is None or (tag in open_ and (tag in _RUNS or tag == "a")):
        return False
    parts.extend(_placed(tag, address, open_))
    return True


def _placed(tag: str, target: str, open_: Sequence[str]) -> Sequence[Piece]:
    """An element, or its end; in code links and images alone, for which the code ends and begins again."""
    if "code" not in open_:
        return ((tag, target),)
    return (_END_OF_CODE, (tag, target), _CODE) if tag in _NOT_IN_CODE else ()


def _image(document: Document, target: str) -> str:
    address, words = address_of(document, target), " ".join(target.partition("\n")[2].split())
    return f"![{_escaped(words)}]({_enclosed(address)})" if address else ""


def _enclosed(address: str) -> str:
    address = _NO_ADDRESS.sub(lambda found: quote(found[0]), _MEANT_IN_ADDRESS.sub(r"\\\g<0>", address))
    return address if _PAIRED.fullmatch(address) else f"<{address}>"


def _written(parts: Sequence[Piece]) -> str:
    """The Markdown of *parts*, with their white space."""
    open_: list[tuple[str, str, list[str]]] = [("", "", [])]  # with what is written in each
    text = ""
    for part in (*parts, ("", "")):
        if isinstance(part, str):
            text += part
            continue
        tag, target = part
        around, _, written = open_[-1]
        if text:
            written.append(text if around == "code" else _escaped(text))
            text = ""
        if tag == "img":
            written.append(target)
        elif tag[:1] == "/":
            inside = _marked(*open_.pop())
            written = open_[-1][2]
            if inside[:1] == "[" and written and written[-1].endswith("!"):
                written[-1] = f"{written[-1][:-1]}\\!"  # else it is an image
            written.append(inside)
        elif tag:
            open_.append((tag, target, []))
    return "".join(open_[0][2])


def _marked(tag: str, target: str, written: Sequence[str]) -> str:
    """What is *written* in an element with its signs, white space outside of them."""
    inside = "".join(written)
    words = inside.strip()
    if not words:
        return inside
    if tag == "code":
        lengths = set(map(len, _TICKS.findall(words)))
        ticks = "`" * next(length for length in count(1) if length not in lengths)
        return f"{ticks} {words} {ticks}" if "`" in (words[0], words[-1]) else f"{ticks}{inside}{ticks}"
    before, _, behind = inside.partition(words)
    if tag == "a":
        link = (
            f"<{target}>" if words == target and not _NO_ADDRESS.search(target) else f"[{words}]({_enclosed(target)})"
        )
        return f"{before}{link}{behind}"
    start, end = (_SIGNS[tag],) * 2 if tag in _SIGNS else (f"<{tag}>", f"</{tag}>")
    return f"{before}{start}{words}{end}{behind}"


def _stuck(parts: Sequence[Piece], tags: frozenset[str]) -> Iterator[int]:
    """Where those of *tags* and their ends are that Markdown cannot set: a sign at their edge, a letter right
    outside, a begin in another that may be its end, or an end right before and another or a begin beside them."""
    edges = [(each[0], each[-1]) if isinstance(each, str) else "()" for each in parts if each[0] not in tags]
    open_, behind = list[tuple[int, bool]](), 0
    for at, each in enumerate(parts):
        if each[0] not in tags:
            behind += 1
            continue
        is_between = 0 < behind < len(edges)
        last, first = (edges[behind - 1][1], edges[behind][0]) if is_between else "  "
        if each[0][0] != "/":
            may_both = _is_sign(last) == _is_sign(first)  # then it begins, unless there is something to end
            is_inside = not all(is_stuck for _, is_stuck in open_)
            may_end = not (last.isspace() or first.isspace()) and (is_inside if may_both else _is_sign(first))
            open_.append((at, may_end or _is_third(parts, at, tags)))
            continue
        start, is_stuck = open_.pop()
        if is_stuck or (_is_sign(last) and not first.isspace() and not _is_sign(first)):
            yield from (start, at)


def _is_third(parts: Sequence[Piece], at: int, tags: frozenset[str]) -> bool:
    """Whether the begin at *at* stands right behind an end, with another end before or a begin behind: three signs
    meet."""
    if not 1 < at < len(parts) - 1:
        return False
    before, end, behind = (parts[place][0] if parts[place][0] in tags else "" for place in (at - 2, at - 1, at + 1))
    return end[:1] == "/" and (before[:1] == "/" or behind[:1] not in {"", "/"})


def _is_sign(character: str) -> bool:
    return category(character)[0] in "PS"  # as CommonMark has it
