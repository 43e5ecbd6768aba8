"""State in a page's scripts, and JSON responses, as Python values.

Next.js, Nuxt, Apollo and the like put a page's data into a script: as JSON in a script of that type, assigned to a
variable, pushed onto a data layer, or as the stream of server components. It is parsed as JSON, else as an object
literal (literal.py), and never executed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final
from urllib.parse import unquote

from crawler.extraction.scripts import flight, literal
from crawler.extraction.source.source import Script

MAX_STATES: Final = 20  # per page
MAX_STATE: Final = 2_000_000  # characters per state
MAX_ALL: Final = 4_000_000  # characters of all
BLANKS: Final = 64  # characters before a state
MAX_NODES: Final = 50_000  # objects and lists examined per page
MAX_STEPS: Final = 64  # of a path, and references followed

_OTHER_TYPE = re.compile(
    r"\btype\s{0,9}+=\s{0,9}+[\"']?+(?!(?:text|application)/(?:x-)?(?:java|ecma)script|module)[^\s\"']", re.IGNORECASE
)
_JSON = re.compile(r"\s{0,99}+(?=[{\[\"])")
_NAME: Final = r"[A-Za-z_$][\w$]{0,60}+"
_ASSIGNED = re.compile(
    rf"(?:^|[;{{}}\s,(/])(?:(?:window|self|globalThis|var|let|const)(?:\s{{1,9}}+|\.|(?=\[)))?+(?:\[[\"'])?+"
    rf"({_NAME}(?:\.(?!push\(){_NAME}){{0,4}}+)"
    r"(?:(?:[\"']\])?+\s{0,9}+=\s{0,9}+(?:(JSON\.parse\(\s{0,9}+(?:decodeURIComponent\(\s{0,9}+)?+)(?=[\"'])"
    r"|(?=[{\[])|(?=\(function\()|(?=[\"']\s{0,9}+\[?+\{\s{0,9}+\\{0,3}+(?:[\"']|u0022|x22)))"
    r"|\.push\(\s{0,9}+(?=\{)|\([\"']event[\"'],\s{0,9}+[\"']view_item[\"'],\s{0,9}+(?=\{))"
)
_UNDEFINED = re.compile(r"(?<=[:\[,])\s{0,9}(?:undefined|NaN|void 0)(?=\s{0,9}[,}\]])")
_ANGULAR = re.compile(r"&([aqslg]);")  # how Angular, up to its version 16, writes a state
_ESCAPED: Final = {"a": "&", "q": '"', "s": "'", "l": "<", "g": ">"}
_NUXT = re.compile(r"nuxt[_-]data", re.IGNORECASE)
_WRAPPERS: Final = frozenset(("Reactive", "ShallowReactive", "Ref", "ShallowRef", "EmptyRef", "Set", "NuxtError"))
_PRICE: Final = "rice"  # in any case of its first letter
# How an answer that is JSON begins, also one that no script of another site may run.
_BEGINS = re.compile(
    r"[\ufeff\s]{0,9999}+(?:\)\]\}',?+|while\s?\(1\);|for\s?\(;;\);)?+\s{0,99}+(?=[{\[]|\"\s{0,9}+[{\[])"
)


def whole(text: str) -> Any:
    """The JSON object or list that *text* as a whole is; else None."""
    begins = _BEGINS.match(text)
    if begins is None or len(text) > MAX_ALL:
        return None
    try:
        found = literal.DECODER.decode(text[begins.end() :].rstrip())
        return literal.DECODER.decode(found) if isinstance(found, str) else found
    except (ValueError, RecursionError):
        return None


def states(html: str, scripts: Iterable[Script], wanted: Callable[[str], bool] = bool) -> list[Any]:
    """The states in a page's *scripts*, in document order, of *wanted* source; an assigned one as {variable: value}, of
    a property as {variable: {property: value}}.

    Numbers with a fraction stay strings. Bounded in characters; states that are too long, too deep or broken are left
    out.
    """

    def is_read(code: str, is_json: bool) -> bool:
        return (is_json or _PRICE in code) and wanted(code)

    return list(islice(_in_scripts(html, scripts, is_read), MAX_STATES))


def unpriced(html: str, scripts: Iterable[Script]) -> list[Any]:
    """The states in programs that name no price: only rules ask for them, and last."""
    return list(
        islice(_in_scripts(html, scripts, lambda code, is_json: not is_json and _PRICE not in code), MAX_STATES)
    )


def _in_scripts(html: str, scripts: Iterable[Script], is_read: Callable[[str, bool], bool]) -> Iterator[Any]:
    """The states of the scripts whose code *is_read*, which is also told whether their type is JSON."""
    left, budget, streamed = MAX_ALL, literal.Allowance(), list[str]()
    for script in scripts:
        size = script.end - script.start
        is_json = _OTHER_TYPE.search(script.attributes) is not None  # if it begins so
        if not 20 <= size <= min(MAX_STATE, left) or (is_json and not _may_be_json(html, script)):
            continue
        code = html[script.start : script.end]
        if is_json and code[:BLANKS].lstrip().startswith("{&q;"):
            code = _ANGULAR.sub(lambda escaped: _ESCAPED[escaped[1]], code)
        is_streamed = not is_json and "__next_f" in code
        if not is_streamed and not is_read(code, is_json):
            continue
        left -= size
        if is_streamed:
            streamed.append(code)
        else:
            yield from _typed(code, script.attributes) if is_json else _assigned(code, budget)
    if streamed and any(is_read(code, True) for code in streamed):
        found = flight.state(flight.chunks(streamed))
        if found is not None:
            yield found


def _may_be_json(html: str, script: Script) -> bool:
    """Whether a *script* that is no program begins like JSON, whatever its type, and is no JSON-LD."""
    return _JSON.match(html, script.start) is not None and "ld+json" not in script.attributes.lower()


def _typed(code: str, attributes: str) -> Iterator[Any]:
    """The value in *code*, or those of its lines."""
    place = 0
    while begins := _JSON.match(code, place):
        try:
            value, place = literal.DECODER.raw_decode(code, begins.end())
        except (ValueError, RecursionError):
            return
        if isinstance(value, str):
            value = _parsed(value)
        if _NUXT.search(attributes):
            value = _unflattened(value)
        if isinstance(value, dict):
            _open(value)
        if not isinstance(value, (dict, list)):
            return
        yield value


def _open(state: dict[str, Any]) -> None:
    """Put objects in the place of members that are JSON in a string: SvelteKit keeps the body of an answer so. Of many
    members only the first are looked at."""
    for key, member in [*islice(state.items(), MAX_STEPS)]:
        if isinstance(member, str) and member[:1] in ("{", "[") and isinstance(found := _parsed(member), (dict, list)):
            state[key] = found


def _assigned(code: str, budget: literal.Allowance) -> Iterator[dict[str, Any]]:
    place = 0
    for _ in range(MAX_STATES):
        found = _ASSIGNED.search(code, place)
        if found is None:
            return
        place = found.end()
        try:
            value, place = literal.DECODER.raw_decode(code, place)
        except (ValueError, RecursionError):
            value = _parsed(_UNDEFINED.sub("null", code[place:])) if "undefined" in code else None
            if value is None:
                value, place = _literal(code, place, budget)
        if isinstance(value, str):
            value = _parsed(unquote(value) if "URI" in (found[2] or "") else value)
        if isinstance(value, (dict, list)):
            for name in reversed(found[1].split(".")):
                value = {name: value}
            yield value


def _literal(code: str, place: int, budget: literal.Allowance) -> tuple[Any, int]:
    """(value, end) of what stands there as an object literal; (None, *place*) if that is none."""
    try:
        if code[place] in "\"'":  # in JSON.parse()
            return literal.string(code, place, budget)
        if code[place] == "(":
            return literal.returned(code, place, budget), place
        return literal.read(code, place, budget)
    except (ValueError, IndexError):
        return None, place


def _parsed(text: str) -> Any:
    """The value at the start of *text*, or None."""
    try:
        return literal.DECODER.raw_decode(text.lstrip())[0]
    except (ValueError, RecursionError):
        return None


def _unflattened(flat: Any) -> Any:
    """Restores what Nuxt flattened into a list, in which members of objects and lists are indices."""
    if not isinstance(flat, list) or not flat or len(flat) > MAX_NODES:
        return flat
    made: list[Any] = [type(value)() if isinstance(value, (dict, list)) else value for value in flat]

    def at(index: Any) -> Any:
        for _ in range(MAX_STEPS):
            if not isinstance(index, int) or not 0 <= index < len(flat):
                return None
            value = flat[index]
            if not (
                isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and value[0] in _WRAPPERS
            ):
                return made[index]
            index = value[1]
        return None

    for value, shell in zip(flat, made, strict=True):
        if isinstance(value, dict):
            shell.update((key, at(index)) for key, index in value.items())
        elif isinstance(value, list):
            shell.extend(map(at, value))
    return at(0)


def lookup(state: Any, path: str) -> str | None:
    """The string, number or boolean at *path*: keys and list indices, separated by dots, `*` for any.

    `product.offers.0.price`, `props.*.price`; keys must not contain dots. Apollo references are followed.
    """
    found = _resolved([state], path.split("."), state)
    return next((text for value in found if (text := scalar(value))), None)


def _resolved(values: list[Any], keys: list[str], root: Any) -> list[Any]:
    for key in keys[:MAX_STEPS]:
        inner: list[Any] = []
        for value in values:
            node = dereferenced(value, root)
            if key == "*":
                members = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
                inner += islice(members, MAX_NODES - len(inner))  # what many refer to is in each of them
            elif isinstance(node, dict) and key in node:
                inner.append(node[key])
            elif isinstance(node, list) and key.isdecimal() and int(key[:9]) < len(node):
                inner.append(node[int(key[:9])])
        values = inner
    return [dereferenced(value, root) for value in values]


def dereferenced(value: Any, root: Any) -> Any:
    """*value*, or what it refers to in an Apollo cache: `{"__ref": "Product:1"}`."""
    for _ in range(MAX_STEPS):
        reference = _reference(value) if isinstance(value, dict) else None
        if not isinstance(reference, str):
            return value
        value = next((table[reference] for table in _tables(root) if reference in table), None)
    return None


def _reference(value: Mapping[str, Any]) -> Any:
    """What *value* refers to, as the client of Apollo writes it: up to its version 2, with a type."""
    return value.get("id") if value.get("type") == "id" and "generated" in value else value.get("__ref")


def _tables(root: Any) -> Iterator[Mapping[str, Any]]:
    """The objects in the top three levels of a state: one of them is the cache."""
    level = [root]
    for _ in range(4):
        level = [value for value in level[:MAX_STEPS] if isinstance(value, dict)]
        yield from level
        level = [inner for value in level for inner in islice(value.values(), MAX_STEPS)]


def scalar(value: Any) -> str | None:
    """*value* as text if it is a scalar, or the first of a list; else None."""
    for _ in range(MAX_STEPS):
        if not isinstance(value, list):
            break
        value = value[0] if value else None
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).strip() or None if isinstance(value, (str, int, float)) else None
