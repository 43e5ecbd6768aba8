"""The source of a spider or a component, function by function."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

LIBRARIES: Final = ("scrapy", "scrapy_redis", "crawler", "twisted", "builtins")
# Ours: `scrapy genspider` in a checkout puts a person's own into the same package.
_ROOM: Final = "crawler.spiders."
_OUR_SPIDERS: Final = frozenset({"base", "pages", "products"})


class SourceFunction(NamedTuple):
    """A function of a class; *first* is the line of *file* in which the class begins."""

    file: str
    first: int
    node: ast.FunctionDef | ast.AsyncFunctionDef
    names: Mapping[str, Any]  # of its module

    def place(self, line: int) -> str:
        """Where *line* of the class is."""
        return f"{self.file}:{self.first + line - 1}"


def is_library(kind: type) -> bool:
    """Whether *kind* is Scrapy's or ours, and no part of a person's project."""
    module = kind.__module__
    if module.startswith(_ROOM):
        return module.removeprefix(_ROOM) in _OUR_SPIDERS
    return module.partition(".")[0] in LIBRARIES


def functions(kind: type) -> Iterator[SourceFunction]:
    """Those of *kind* and of its base classes outside libraries; of a class that was made at a prompt there is no
    source."""
    for one in kind.__mro__:
        if is_library(one):
            continue
        try:
            lines, first = inspect.getsourcelines(one)
            file = inspect.getsourcefile(one) or one.__module__
        except (OSError, TypeError):
            continue
        names = vars(sys.modules.get(one.__module__, object()))
        for node in ast.walk(ast.parse(textwrap.dedent("".join(lines)))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield SourceFunction(file, first, node, names)
