"""What spiders and components of a project have from older releases of Scrapy: methods that this one passes over in
silence, and calls that fail only on the page that needs them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from inspect import Parameter, Signature, signature, unwrap
from types import CodeType, FunctionType
from typing import Any, Final, TypeGuard

from crawler.components import path_of
from crawler.startup.spider_source import SourceFunction, functions, is_library

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

    Known weakness: only calls of `self.name()` and `super().name()` are seen, without arguments in stars, in methods
    without decorators.
    """
    written = [*functions(kind)]
    given = {node.attr for one in written for node in ast.walk(one.node) if _is_assigned(node)}
    for one in (each for each in written if each.is_method):
        if extra := _extra(kind, one):
            what = f"{one.node.name}() is called without {', '.join(extra)}: leave that out"
            yield one.place(one.node.lineno), what
        for call in _calls(one.node):
            if what := _refused(kind, call, one.owner, given):
                yield one.place(call.lineno), what


def _is_assigned(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether it is the target of `spider.name = ...`, after which the name may stand for anything."""
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """Those in *node*, without what is defined in it, whose `self` may be another."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.Call):
            yield one
        if not isinstance(one, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _calls(one)


def _holder(classes: Iterable[type], name: str) -> type | None:
    return next((one for one in classes if name in vars(one)), None)


def _above(kind: type, owner: type) -> Sequence[type]:
    """Where `super()` looks, in a method of *owner*."""
    return kind.__mro__[kind.__mro__.index(owner) + 1 :]


def _takes(classes: Iterable[type], name: str) -> Signature | None:
    """What the method *name* of the first of *classes* that has one takes; None if it is not Scrapy's."""
    holder = _holder(classes, name)
    method = vars(holder)[name] if holder and is_library(holder) else None
    return signature(method) if isinstance(method, FunctionType) else None


def _extra(kind: type, function: SourceFunction) -> list[str]:
    """The arguments that *function* needs beyond those of the method that it replaces, unless that takes any."""
    name, given = function.node.name, function.node.args
    takes = None if name.startswith(_ADAPTED) else _takes(_above(kind, function.owner), name)
    is_used = _holder(kind.__mro__, name) is function.owner
    if not is_used or takes is None or any(one.kind in _ANY for one in takes.parameters.values()):
        return []
    needed = [*given.posonlyargs, *given.args]
    needed = needed[: len(needed) - len(given.defaults)][len(takes.parameters) :]
    return [one.arg for one in needed] if needed and _is_asked_for(kind, name) else []


def _is_asked_for(kind: type, name: str) -> bool:
    """Whether a method of Scrapy's calls it that *kind* has not replaced, or calls by `super()`."""
    calls = [call.func for one in functions(kind) for call in _calls(one.node)]
    kept = {one.attr for one in calls if isinstance(one, ast.Attribute) and _is_super(one.value)}
    for library in filter(is_library, kind.__mro__):
        for other, method in vars(library).items():
            is_used = isinstance(method, FunctionType) and (other in kept or _holder(kind.__mro__, other) is library)
            if is_used and name in _names(unwrap(method).__code__):
                return True
    return False


def _names(code: CodeType) -> Iterator[str]:
    """What *code* names that is no variable of its own."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "super"


def _refused(kind: type, call: ast.Call, owner: type, given: Collection[str]) -> str:
    """How Python would refuse *call*, in a method of *owner*; "" if it does not, or *given* names are called."""
    holder, name = (call.func.value, call.func.attr) if isinstance(call.func, ast.Attribute) else (None, "")
    starred = any(isinstance(one, ast.Starred) for one in call.args) or any(word.arg is None for word in call.keywords)
    if holder is None or name.startswith("__") or starred:
        return ""
    if ast.unparse(holder) in {"super()", f"super({owner.__name__}, self)"}:
        takes = _takes(_above(kind, owner), name)
    elif ast.unparse(holder) == "self" and name not in given:
        takes = _takes(kind.__mro__, name)
    else:
        return ""
    if takes is None:
        return ""
    try:
        takes.bind(None, *call.args, **{str(word.arg): None for word in call.keywords})
    except TypeError as error:
        return f"{name}() takes {', '.join([*takes.parameters][1:])} in this release of Scrapy: {error}"
    return ""
