"""What a spider's source puts into the `meta`, `cb_kwargs` and `cookies` of its requests, as far as literals and calls
show it, and which of it cannot be stored."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, Final

from itemadapter import ItemAdapter

from crawler.meta import CREDENTIALS

STORED: Final = ("meta", "cb_kwargs", "cookies")
# what literals may be, or is made of them
STORABLE: Final = (str, bytes, bytearray, int, float, list, tuple, dict, set, frozenset, date, Decimal)


def put_later(
    function: ast.FunctionDef | ast.AsyncFunctionDef, names: Mapping[str, Any], objects: Mapping[str, str]
) -> Iterator[tuple[int, str]]:
    """Findings in `request.meta["key"] = value` and `request.meta.update(...)`."""
    given: list[ast.expr]
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Subscript):
            name, given = _stored(target.value), [ast.Dict([], [node.value])]
        elif isinstance(node, ast.Call) and isinstance(called := node.func, ast.Attribute) and called.attr == "update":
            name, given = _stored(called.value), [*node.args, ast.Dict([], [word.value for word in node.keywords])]
        else:
            continue
        if name:
            yield from ((node.lineno, what) for one in given for what in values(name, one, names, objects))


def _stored(expression: ast.expr) -> str:
    """`meta`, `cb_kwargs` or `cookies` for that of a request; a response's own goes nowhere."""
    if not (isinstance(expression, ast.Attribute) and expression.attr in STORED):
        return ""
    owner = expression.value
    return "" if isinstance(owner, ast.Name) and owner.id in {"response", "self"} else expression.attr


def values(name: str, value: ast.expr, names: Mapping[str, Any], objects: Mapping[str, str]) -> Iterator[str]:
    """Findings in the literal dict *value*: what cannot be stored."""
    entries: list[ast.expr] = []
    keys: list[Any] = []
    if isinstance(value, ast.Dict):
        entries, keys = value.values, [key.value for key in value.keys if isinstance(key, ast.Constant)]
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        entries, keys = [word.value for word in value.keywords], [word.arg for word in value.keywords]
    if name == "meta" and (secret := next((key for key in keys if key in CREDENTIALS), "")):
        yield f"meta[{secret!r}] never goes to Redis: set HTTPAUTH_USER, HTTPAUTH_PASS and HTTPAUTH_DOMAIN"
    yield from (_holds(name, what) for entry in entries if (what := _value(entry, names, objects)))


def _value(value: ast.expr, names: Mapping[str, Any], objects: Mapping[str, str]) -> str:
    """What *value* is, if it cannot be stored."""
    if isinstance(value, ast.Name):
        return objects.get(value.id, "")
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SELECTING:
        return SELECTOR
    if isinstance(value, ast.Subscript):  # one of those that were selected
        return SELECTOR if _value(value.value, names, objects) == SELECTOR else ""
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        return _PARTS.get((value.value.id, value.attr), "")
    return _made(value.func, names) if isinstance(value, ast.Call) else _LITERALS.get(type(value), "")


def _holds(name: str, what: str) -> str:
    allowed = "text, numbers, bytes, lists, maps, sets, dates, datetimes, decimals, items"
    return f"{name} holds {what}; it may hold {allowed}"


def dicts(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, ast.expr]:
    """Local names of literal dicts."""
    return {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


SELECTOR: Final = "a selector"
_SELECTING: Final = ("css", "xpath")
_PARTS: Final[Mapping[tuple[str, str], str]] = {
    ("response", "request"): "a request",
    ("response", "selector"): SELECTOR,
    ("self", "crawler"): "the crawler",
    ("self", "logger"): "a logger",
    ("self", "settings"): "the settings",
}
_LITERALS: Final[Mapping[type, str]] = {
    ast.Lambda: "a lambda",
    ast.GeneratorExp: "a generator",
}


def objects(function: ast.FunctionDef | ast.AsyncFunctionDef, names: Mapping[str, Any]) -> dict[str, str]:
    """Local names that hold nothing but objects that cannot be stored, and what these are."""
    found = {"self": "the spider"}
    arguments = [argument.arg for argument in function.args.args]
    if "response" in arguments:
        found["response"] = "a response"
    assigned: dict[str, list[str]] = {}
    for node in (each for each in ast.walk(function) if isinstance(each, ast.Assign | ast.For)):
        what = _value(node.value if isinstance(node, ast.Assign) else node.iter, names, {})
        if isinstance(node, ast.For) and what != SELECTOR:
            what = ""
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name):
                assigned.setdefault(target.id, []).append(what)
    return found | {name: whats[0] for name, whats in assigned.items() if all(whats)}


def _made(called: ast.expr, names: Mapping[str, Any]) -> str:
    """What a call makes, if that cannot be stored."""
    kind = named(called, vars(builtins) | dict(names))
    if not isinstance(kind, type) or issubclass(kind, STORABLE) or ItemAdapter.is_item_class(kind):
        return ""
    article = "an" if kind.__name__[0] in "AEIOUaeiou" else "a"
    return "" if kind.__module__.startswith("scrapy_playwright") else f"{article} {kind.__name__}"


def named(expression: ast.expr, names: Mapping[str, Any]) -> Any:
    """What a name, or an attribute of one, refers to in its module; None if unknown."""
    if isinstance(expression, ast.Name):
        return names.get(expression.id)
    if isinstance(expression, ast.Attribute):
        return getattr(named(expression.value, names), expression.attr, None)
    return None
