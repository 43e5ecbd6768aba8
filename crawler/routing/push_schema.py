"""The message schema of `scrapy push`: one line of text, a URL or a JSON object, checked key by key.

What each key means is in README.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from inspect import isroutine
from typing import Any, Final

from scrapy import Request, Spider

from crawler import urls
from crawler.errors import MessageError, shown
from crawler.frontier.messages import MAX_PRIORITY
from crawler.meta import MIN_TIER, RESERVED
from crawler.policy.tiers import TIERS

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_LIBRARIES: Final = frozenset({"builtins", "scrapy", "scrapy_redis"})
_HOOKS: Final = frozenset({"closed", "start_requests"})  # called by Scrapy, which does not define them
MAX_LINE: Final = 262_144  # characters
MAX_BODY: Final = 131_072  # bytes


def parse_line(line: str, spider: type[Spider], priority: int = 0) -> Request:
    """The request of one line; raises MessageError naming key, value and expectation."""
    if len(line) > MAX_LINE:
        raise MessageError(f"line has {len(line)} characters, more than the {MAX_LINE} allowed: {line[:60]}...")
    fields = json_object(line) if line.startswith("{") else {"url": line}
    if unknown := sorted(fields.keys() - _READERS.keys()):
        raise MessageError(f"unknown key {shown(unknown[0])}: expected one of {', '.join(_READERS)}")
    values = {key: _READERS[key](_encodable(key, value)) for key, value in fields.items()}
    if "url" not in values:
        raise MessageError("no 'url'")
    if (callback := values.get("callback")) and callback not in (known := callbacks(spider)):
        theirs = ", ".join(known) or "none"
        raise MessageError(f"callback {shown(callback)} is not a callback of spider {spider.name!r}: it has {theirs}")
    meta = values.get("meta", {}) | {
        _META.get(key, key): values[key] for key in ("not_before", "country", "proxy_pool", "tier") if key in values
    }
    return Request(
        values["url"],
        method=values.get("method", "GET"),
        headers=values.get("headers"),
        body=values.get("body", b""),
        meta=meta,
        callback=getattr(spider, callback) if callback else None,
        priority=values.get("priority", priority),
        dont_filter=values.get("dont_filter", False),
    )


def callbacks(spider: type[Spider]) -> list[str]:
    """The callbacks that a pushed message may name: public methods defined by the spider's own classes, except those
    that Scrapy, scrapy-redis or the project call themselves (`start`, `closed`, `make_request_from_data` ...).
    """
    own = [cls for cls in spider.__mro__ if cls.__module__.partition(".")[0] not in _LIBRARIES and not _is_base(cls)]
    theirs = {name for cls in spider.__mro__ if cls not in own for name in vars(cls)} - {"parse"} | _HOOKS
    names = {name for cls in own for name in vars(cls) if not name.startswith("_")} - theirs
    return sorted(name for name in names if isroutine(getattr(spider, name)))


def _is_base(cls: type) -> bool:
    return cls.__module__ in {"crawler.spiders.base", "crawler.spiders.reading"}


def external_meta(meta: Mapping[str, Any]) -> dict[str, Any]:
    """*meta* without reserved keys: what an entry of a start-URLs key may set."""
    return {key: value for key, value in meta.items() if key not in RESERVED}


def json_object(text: str) -> dict[str, Any]:
    """*text* as a JSON object; raises MessageError."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MessageError(f"not JSON ({error}): {text[:200]}") from None
    if not isinstance(value, dict):
        raise MessageError(f"not a JSON object: {text[:200]}")
    return value


def _refuse(key: str, value: object, allowed: str) -> MessageError:
    given = shown(value) if isinstance(value, str) else json.dumps(value)[:80]
    return MessageError(f"{key} = {given} is invalid: expected {allowed}")


def _encodable(key: str, value: Any) -> Any:
    """*value*; refuses strings with lone surrogates, which cannot be encoded."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        raise _refuse(key, ascii(value)[:80], "valid Unicode that is not nested too deeply") from None
    return value


def _text(key: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise _refuse(key, value, "a non-empty string")
        return value

    return read


def _url(value: Any) -> str:
    return urls.check(_text("url")(value))


def _method(value: Any) -> str:
    if str(value).upper() not in METHODS:
        raise _refuse("method", value, "one of " + ", ".join(METHODS))
    return str(value).upper()


def _headers(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise _refuse("headers", value, "an object whose values are strings")
    if any(set("\r\n") & set(name + text) for name, text in value.items()):
        raise _refuse("headers", value, "strings without line breaks")
    return value


def _body(value: Any) -> bytes:
    if not isinstance(value, str) or len(value.encode()) > MAX_BODY:
        raise _refuse("body", value, f"a string of at most {MAX_BODY} bytes")
    return value.encode()


def _meta(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _refuse("meta", value, "an object")
    if reserved := sorted(value.keys() & RESERVED):
        raise _refuse("meta", reserved[0], "a key that does not steer the crawler")
    return value


def _priority(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MAX_PRIORITY:
        raise _refuse("priority", value, f"an integer from -{MAX_PRIORITY} to {MAX_PRIORITY}")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _refuse("dont_filter", value, "true or false")
    return value


def _moment(value: Any) -> float:
    allowed = "Unix seconds, or an ISO 8601 time with a time zone such as 2027-01-31T06:00:00Z"
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e11:
        return float(value)
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise _refuse("not_before", value, allowed) from None
    if moment.tzinfo is None:
        raise _refuse("not_before", value, allowed)
    return moment.timestamp()


def _tier(value: Any) -> str:
    if value not in TIERS:
        raise _refuse("tier", value, "one of " + ", ".join(TIERS))
    return str(value)


_META: Final = {"tier": MIN_TIER}  # keys that have another name in meta
_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "url": _url,
    "method": _method,
    "headers": _headers,
    "body": _body,
    "meta": _meta,
    "callback": _text("callback"),
    "priority": _priority,
    "dont_filter": _flag,
    "not_before": _moment,
    "country": _text("country"),
    "proxy_pool": _text("proxy_pool"),
    "tier": _tier,
}
