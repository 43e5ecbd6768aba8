"""The source of a spider or a component, function by function."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

LIBRARIES: Final = ("scrapy", "scrapy_redis", "crawler", "twisted", "builtins")
# Ours: `scrapy genspider` in a checkout puts a person's own into the same package.
_ROOM: Final = "crawler.spiders."
_OUR_SPIDERS: Final = frozenset({"base", "bounds", "pages", "products", "reading", "sandbox"})


class SourceFunction(NamedTuple):
    """A function within a class, *owner*; *first* is the line of *file* in which the class begins."""

    owner: type
    file: str
    first: int
    node: ast.FunctionDef | ast.AsyncFunctionDef
    names: Mapping[str, Any]  # of its module

    def place(self, line: int) -> str:
        """Where *line* of the class is."""
        return f"{self.file}:{self.first + line - 1}"

    @property
    def is_method(self) -> bool:
        """Whether the class has it as it is written: no decorator has changed it, and it is no inner function."""
        code = getattr(vars(self.owner).get(self.node.name), "__code__", None)
        return code is not None and code.co_firstlineno == self.first + self.node.lineno - 1


def is_library(kind: type) -> bool:
    """Whether *kind* is Scrapy's or ours, and no part of a person's project."""
    module = kind.__module__
    if module.startswith(_ROOM):
        return module.removeprefix(_ROOM) in _OUR_SPIDERS
    return module.partition(".")[0] in LIBRARIES


def functions(kind: type) -> Iterator[SourceFunction]:
    """Those of *kind* and of its base classes outside libraries; of a class that was made at a prompt, or whose file
    has changed since, there is no source."""
    for one in kind.__mro__:
        # typing.Generic, a base of seven components, took 6 % of a worker's start to find in its module.
        if is_library(one) or one.__module__.partition(".")[0] in sys.stdlib_module_names:
            continue
        try:
            lines, first = inspect.getsourcelines(one)
            file, tree = inspect.getsourcefile(one) or one.__module__, _parsed(lines)
        except (OSError, TypeError, SyntaxError):
            continue
        names = vars(sys.modules.get(one.__module__, object()))
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield SourceFunction(one, file, first, node, names)


def _parsed(lines: Sequence[str]) -> ast.Module:
    """The class that is written in *lines*, which may be indented, other than the lines of its strings."""
    if not lines[0][:1].isspace():
        return ast.parse("".join(lines))
    tree = ast.parse("".join(("if True:\n", *lines)))
    ast.increment_lineno(tree, -1)
    return tree
