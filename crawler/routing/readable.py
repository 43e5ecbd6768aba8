"""A stored request in readable form, without credentials."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgpack

from crawler.routing import stored_items
from crawler.urls import without_credentials

# Headers and cookies whose values are secret, whatever their names.
_SECRET: Final = re.compile(r"auth|cookie|token|secret|session|passw|credential|api.?key|signature", re.IGNORECASE)
_NAMES: Final = {
    "u": "url", "m": "method", "h": "headers", "b": "body", "d": "meta", "c": "cookies", "k": "cb_kwargs", "g": "flags",
    "p": "priority", "n": "dont_filter", "f": "callback", "r": "errback", "i": "parent_id",
}  # fmt: skip
_MOST: Final = 2_000  # characters of a body shown


def readable(body: bytes) -> dict[str, Any] | str:
    """The record of `codec.encode`, field by field, with *** for secrets; the text itself if it is no such record."""
    try:
        state = stored_items.unpacked_to_read(body)
    except (ValueError, msgpack.exceptions.UnpackException):
        return _text(body)
    if not isinstance(state, dict) or "u" not in state:
        return _text(body)
    found = {_NAMES[key]: value for key, value in state.items() if key in _NAMES}
    found["url"] = without_credentials(str(found["url"]))
    if isinstance(headers := found.get("headers"), Mapping):
        found["headers"] = {name: _hidden(name, value) for name, value in headers.items()}
    if "cookies" in found:
        found["cookies"] = "***"
    if isinstance(sent := found.get("body"), bytes):
        found["body"] = _text(sent)
    return found


def _hidden(name: str, value: Any) -> Any:
    if _SECRET.search(name):
        return "***"
    return ", ".join(map(_text, value)) if isinstance(value, list | tuple) else _text(value)


def _text(value: Any) -> str:
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    return text if len(text) <= _MOST else f"{text[:_MOST]}... ({len(text)} characters)"
