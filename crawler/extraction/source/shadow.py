"""Declared shadow roots, `<template shadowrootmode="open">`: browsers show their content, parsers keep it apart."""

from __future__ import annotations

import re
from typing import Final

MARK: Final = "shadowrootmode"  # in the tag of one
REACH: Final = 60_000  # characters searched for the first one: a site that uses them has its header in one

_TAG = re.compile(
    r"<!--[^-]*+(?:-(?!->)[^-]*+)*+"
    r"|<template(?=[\s/>])((?:[^>\"']|\"[^\"]{0,500}+\"|'[^']{0,500}+'){0,500}+)>|</template\s*+>",
    re.IGNORECASE,
)
_MODE = re.compile(rf"\s{MARK}\s*=\s*[\"']?(?:open|closed)(?![\w-])", re.IGNORECASE)


def opened(markup: str) -> str:
    """*markup* with the templates that browsers show as elements of no kind, so that all readers see what is in them.

    Known weakness: `slot`s stay empty, what fills them stands behind them; pages whose first root comes late.
    """
    pieces: list[str] = []
    shown: list[bool] = []  # of the templates that are open
    taken = 0
    for tag in _TAG.finditer(markup):
        if tag[1] is not None:
            shown.append((not shown or shown[-1]) and _MODE.search(tag[1]) is not None)
            new = "<shadow-root>"
        elif tag[0][1] == "!" or not shown:
            continue
        else:
            new = "</shadow-root>"
        if shown[-1]:
            pieces += (markup[taken : tag.start()], new)
            taken = tag.end()
        if new[1] == "/":
            shown.pop()
    return "".join((*pieces, markup[taken:]))
