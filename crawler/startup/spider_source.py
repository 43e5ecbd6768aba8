"""The source of a spider or a component, function by function."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple


class SourceFunction(NamedTuple):
    """A function of a class; *first* is the line of *file* in which the class begins."""

    file: str
    first: int
    node: ast.FunctionDef | ast.AsyncFunctionDef
    names: Mapping[str, Any]  # of its module

    def place(self, line: int) -> str:
        """Where *line* of the class is."""
        return f"{self.file}:{self.first + line - 1}"


def functions(kind: type, libraries: Collection[str]) -> Iterator[SourceFunction]:
    """Those of *kind* and of its base classes outside *libraries*, which are packages; of a class that was made at a
    prompt there is no source."""
    for one in kind.__mro__:
        if one.__module__.partition(".")[0] in libraries:
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
