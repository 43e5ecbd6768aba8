"""Reads settings and checks their range: the only place that turns a bad value into a ConfigError."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, get_args
from urllib.parse import unquote

from scrapy.utils.misc import load_object

from crawler import defaults
from crawler.errors import ConfigError

# Of each number in defaults.py: its kind, the lowest and the highest value.
NUMBERS: Final = {
    name: get_args(kind) for name, kind in defaults.__annotations__.items() if hasattr(kind, "__metadata__")
}
A_CLASS: Final = "the path of a class that can be imported"
_SCHEME = re.compile(r"[a-z][a-z0-9+]*", re.IGNORECASE)
_TYPE_NAMES = {int: "an integer", float: "a number"}


def integer(settings: Mapping[str, Any], name: str, *within: int) -> int:
    """The setting as int in its range, that of defaults.py if none is given; raises ConfigError naming all three."""
    return int(_number(settings, name, int, *within or bounds(name)))


def number(settings: Mapping[str, Any], name: str, *within: float) -> float:
    """The setting as float in its range, that of defaults.py if none is given; raises ConfigError naming all three."""
    return _number(settings, name, float, *within or bounds(name))


def bounds(name: str) -> tuple[Any, Any]:
    """The lowest and the highest value of that number in defaults.py."""
    _, low, high = NUMBERS[name]
    return low, high


def check_numbers(settings: Mapping[str, Any]) -> None:
    """Raise ConfigError for the first number of defaults.py that is out of its range."""
    for name, (kind, low, high) in NUMBERS.items():
        _number(settings, name, kind, low, high)


def boolean(settings: Mapping[str, Any], name: str) -> bool:
    """The setting as bool, with Scrapy's spellings (True, 1, "true", "0" ...)."""
    value = settings.get(name)
    match str(value).strip().lower():
        case "1" | "true":
            return True
        case "0" | "false" | "none" | "":
            return False
        case _:
            raise ConfigError(name, value, "True or False")


def choice(settings: Mapping[str, Any], name: str, allowed: Sequence[str]) -> str:
    """The setting as one of *allowed*."""
    value = settings.get(name)
    if value not in allowed:
        raise ConfigError(name, value, "one of " + ", ".join(allowed))
    return str(value)


def text(settings: Mapping[str, Any], name: str) -> str:
    """The setting as text, "" for None; a path may be a Path. A URI's password is never shown."""
    value = settings.get(name)
    if value is not None and not isinstance(value, (str, Path)):
        raise ConfigError(name, "...", f"text, not a {type(value).__name__}")
    found = str(value or "")
    if not found.isprintable():
        raise ConfigError(name, shown_uri(found), "text without control characters")
    return found


class Lists(Protocol):
    """The part of Scrapy's settings that lists are read with."""

    def get(self, name: str) -> Any: ...
    def getlist(self, name: str) -> list[Any]: ...


class Dicts(Protocol):
    """The part of Scrapy's settings that dicts are read with."""

    def getdict(self, name: str) -> dict[Any, Any]: ...


def texts(settings: Lists, name: str) -> list[str]:
    """The setting as a list of texts; one text holds them separated by commas."""
    value = settings.get(name)
    if isinstance(value, (bytes, Mapping)) or not isinstance(value or (), Iterable):
        raise ConfigError(name, value, "a list, or names separated by commas")
    return [str(one).strip() for one in settings.getlist(name)]


def mapping(settings: Dicts, name: str) -> dict[str, Any]:
    """The setting as a dict; a command line may give it as a JSON object."""
    try:
        return settings.getdict(name)
    except (TypeError, ValueError):
        raise ConfigError(name, "...", "a dict, or a JSON object") from None  # the value may contain secrets


def check_class(name: str, value: Any) -> None:
    """Raise ConfigError if setting *name* = *value* is neither a class nor its path."""
    loaded(name, value, value, "a class, or its path, that can be imported")


def loaded(name: str, path: Any, value: object, expected: str = A_CLASS) -> Any:
    """The class at *path*, or itself, for setting *name* = *value*; raises ConfigError if it cannot be imported."""
    try:
        return load_object(path)
    except (ImportError, NameError, TypeError, ValueError) as error:
        raise ConfigError(name, value, f"{expected} ({error})") from None


def check_module(name: str, path: Any) -> None:
    """Raise ConfigError if *path*, which setting *name* switches off, is in a module that is gone: Scrapy raises."""
    try:
        load_object(path)
    except ImportError as error:
        raise ConfigError(name, None, f"a component that there is ({error}): leave it out") from None
    except (NameError, TypeError, ValueError):
        return


def shown_uri(uri: str) -> str:
    """A server's URI for messages: scheme, hosts and path.

    Without anything before the last @, where a password ends however it is written, and without options, which may
    contain secrets.
    """
    scheme, mark, rest = uri.partition("://")
    hidden, at, open_ = (rest if mark else uri).rpartition("@")
    shown = (f"***{at}" if hidden else "") + open_.partition("?")[0]
    return f"{scheme}://{shown}" if mark and _SCHEME.fullmatch(scheme) else shown


def without_password(text: str, uri: str) -> str:
    """What a driver says of *uri*, with *** where it has the password, as it is written there or decoded."""
    written = (uri.partition("://")[2] or uri).rpartition("@")[0].partition(":")[2]
    forms = "|".join(re.escape(form) for form in (written, unquote(written)))
    return re.sub(rf"(?<!\w)(?:{forms})(?!\w)", "***", text) if written else text  # a short one is part of many words


def check_escaped(name: str, uri: str, ends: str) -> None:
    """Raise ConfigError if an @ comes after the first of *ends*, where clients assume that the hosts end.

    They would take the part before it, which belongs to the password, for a host, and show it.
    """
    rest = uri.partition("://")[2] or uri
    hosts = re.split(f"[{ends}]", rest, maxsplit=1)[0]
    if "@" in rest[len(hosts) :]:
        allowed = "a URI with percent-encoded user name and password (/ is %2F, ? is %3F, # is %23, @ is %40)"
        raise ConfigError(name, shown_uri(uri), f"{allowed}; an @ after the hosts has to be %40 too")


def text_file(name: str, path: str | Path) -> str:
    """The text of the UTF-8 file at *path*, the value of setting *name*, without the byte order mark that Windows puts
    in front; raises ConfigError if it is unreadable."""
    try:
        return Path(text({name: path}, name)).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigError(name, str(path), f"a readable UTF-8 text file ({reason})") from None


def _number(settings: Mapping[str, Any], name: str, kind: type[int | float], low: float, high: float) -> float:
    value = settings.get(name)
    allowed = f"{_TYPE_NAMES[kind]} from {low} to {high}"
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ConfigError(name, value, allowed)
    try:
        result = kind(value)
    except (ValueError, OverflowError):
        raise ConfigError(name, value, allowed) from None
    if not low <= result <= high or (kind is int and float(value) != result):
        raise ConfigError(name, value, allowed)
    return result
