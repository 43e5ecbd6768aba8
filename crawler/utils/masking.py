"""Hides what must not be shown: in log lines, tracebacks, dead letters and errors, whoever wrote the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, unquote

SHORTEST: Final = 6  # characters; masking anything shorter would garble other text
# Everything between :// and the last @ before the end of the host; after // alone, only with a colon in it, and not
# what XPath has there: //media:content[@url].
_USER_INFORMATION: Final = re.compile(r"//(?:(?<=://)[^\s/?#\"'<>\\]*|[^\s/?#\"'<>\\@:]*:[^\s/?#\"'<>\\]*(?<![\[(]))@")
_HEADER: Final = re.compile(
    r"\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|x-auth-token)"
    r"(['\"]?\s*[:=]\s*[\[(]?b?['\"]?|['\"]\s*,\s*[\[(]?b?['\"])[^'\"\r\n\])]+",
    re.IGNORECASE,
)
# As these headers have them, and a proxy or site that answers with what it was sent: letters of both kinds or digits.
_TOKEN: Final = re.compile(r"\b([Bb]asic|[Bb]earer) (?=[A-Z\d_.~+/-]*[a-z][a-z_.~+/-]*[A-Z\d])[A-Za-z\d_.~+/-]{8,}=*")
_HINTS: Final = ("authorization", "cookie", "x-api-key", "x-auth-token")
# Names of settings, and keys within them, whose value is a secret.
_SECRET: Final = re.compile(r"(?:PASS|PASSWD|PASSWORD|SECRET|TOKEN|API_KEY|ACCESS_KEY|CREDENTIALS?)$", re.IGNORECASE)
_PASSWORD: Final = re.compile(r"://[^\s/?#@:]*:([^\s/?#]*)@")


def mask(text: str, secrets: Sequence[str] = ()) -> str:
    """*text* without *secrets*, without user names, passwords and tokens in URLs, and without the values of headers
    that carry credentials. Lone surrogates, which no file and no server takes, become escapes."""
    if not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode()
    for secret in secrets:
        text = text.replace(secret, "***")
    text = mask_logins(text)
    lower = text.lower()
    return _HEADER.sub(r"\1\2***", text) if any(hint in lower for hint in _HINTS) else text


def mask_logins(text: str) -> str:
    """*text* without user names, passwords and tokens in URLs, and without those of HTTP authentication."""
    if "asic " in text or "earer " in text:
        text = _TOKEN.sub(r"\1 ***", text)
    return _USER_INFORMATION.sub("//***@", text) if "@" in text else text


def secrets_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The secrets in *settings*, in the forms in which they appear: values of API_KEYS and of whatever is named as a
    secret, and passwords in URLs. The longest first: one may be a part of another."""
    found = {secret for name, value in settings.items() for secret in _within(str(name), value)}
    forms = {form for one in found for form in (one, quote(one, safe=""), unquote(one)) if len(form) >= SHORTEST}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _within(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value[:1] in ("{", "[") and (given := _json(value)) is not None:  # as `-s` has dicts
            yield from _within(name, given)
        elif value and _SECRET.search(name):
            yield value
        if "://" in value:
            yield from _PASSWORD.findall(value)
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _within("SECRET" if name == "API_KEYS" else str(key), entry)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _within(name, entry)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
