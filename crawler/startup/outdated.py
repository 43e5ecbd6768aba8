"""What spiders and components of a project have from older releases of Scrapy: methods that this one passes over in
silence, and calls that fail only on the page that needs them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from inspect import Parameter, Signature, signature
from types import FunctionType
from typing import Any, Final

from crawler.components import path_of
from crawler.startup.spider_source import functions, is_library

# Scrapy looks at these, whether they take the spider; who builds a component passes what its `__init__` takes.
_ADAPTED: Final = ("process_", "open_spider", "close_spider", "__")
_ANY: Final = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def passed_over(middleware: Any) -> Iterator[tuple[str, str]]:
    """Where *middleware* of a spider has a method that is no longer called, and what to make of it."""
    method = getattr(middleware, "process_start_requests", None)
    if method is not None and not hasattr(middleware, "process_start") and not _is_templates(method):
        what = "Scrapy no longer calls it: make it `async def process_start(self, start)`"
        yield f"{path_of(middleware)}.process_start_requests", what


def _template(self: Any, start_requests: Iterable[Any], spider: Any) -> Iterator[Any]:  # noqa: ARG001
    for r in start_requests:  # noqa: UP028
        yield r


def _is_templates(method: Any) -> bool:
    """Whether it does what `scrapy startproject` of older releases wrote, and misses nothing."""
    return getattr(getattr(method, "__code__", None), "co_code", None) == _template.__code__.co_code


def misfits(kind: type) -> Iterator[tuple[str, str]]:
    """Where *kind* has a method in place of one of Scrapy's, or calls one, with arguments that it does not take now.

    Known weakness: only calls of `self.name()` and `super().name()` are seen, without arguments in stars.
    """
    for one in functions(kind):
        if extra := _extra(kind, one.node):
            what = f"{one.node.name}() is called without {', '.join(extra)}: leave that out"
            yield one.place(one.node.lineno), what
        for call in (node for node in ast.walk(one.node) if isinstance(node, ast.Call)):
            if what := _refused(kind, call, one.node.name):
                yield one.place(call.lineno), what


def _takes(kind: type, name: str, *, above: bool) -> Signature | None:
    """What the method of Scrapy's takes that *kind* has under *name*, or *above* its own of that name; None if it is
    not Scrapy's."""
    owners = [one for one in kind.__mro__ if name in vars(one)][above:]
    method = vars(owners[0])[name] if owners and is_library(owners[0]) else None
    return signature(method) if isinstance(method, FunctionType) else None


def _extra(kind: type, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The arguments that *function* needs beyond those of the method that it replaces, unless that takes any."""
    takes = None if function.name.startswith(_ADAPTED) else _takes(kind, function.name, above=True)
    if takes is None or any(one.kind in _ANY for one in takes.parameters.values()):
        return []
    needed = [*function.args.posonlyargs, *function.args.args]
    needed = needed[: len(needed) - len(function.args.defaults)]
    return [one.arg for one in needed[len(takes.parameters) :]]


def _refused(kind: type, call: ast.Call, within: str) -> str:
    """How Python would refuse *call*, which stands *within* that method; "" if it does not."""
    holder, name = (ast.unparse(call.func.value), call.func.attr) if isinstance(call.func, ast.Attribute) else ("", "")
    starred = any(isinstance(one, ast.Starred) for one in call.args) or any(word.arg is None for word in call.keywords)
    is_super = holder.startswith("super(")
    if not (holder == "self" or is_super) or name.startswith("__") or starred:
        return ""
    takes = _takes(kind, name, above=is_super and name == within)
    if takes is None:
        return ""
    try:
        takes.bind(None, *call.args, **{str(word.arg): None for word in call.keywords})
    except TypeError as error:
        return f"{name}() takes {', '.join([*takes.parameters][1:])} in this release of Scrapy: {error}"
    return ""
