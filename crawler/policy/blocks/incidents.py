"""Numbers by which a refusal can be looked up, as its page shows them. Pure; texts are in lower case."""

from __future__ import annotations

import re
from typing import Final

_INCIDENT: Final = re.compile(
    r"\b(?=[0-9a-f]*\d)[0-9a-f]{16,}\b|\b\d{12,}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f-]{14,}|\bip\b[^.]{0,40}\b\d+\.\d+\.\d+\.\d+|"
    r"\b(?:reference|incident|support|request|event|ray|case|trace)[ -]?(?:id|number|code|no\b|#)"
    r"[^a-z0-9]{0,4}(?=[a-z-]*\d)[0-9a-z-]{6,}|details: cache-"
)
# Akamai's number of an answer that it gave itself, on the pages of its customers too.
_EDGE: Final = re.compile(r"\b\d{1,3}\.[0-9a-f]{6,8}\.1\d{9}\.[0-9a-f]{3,8}\b")
_ADDRESS: Final = re.compile(r"\bip\b[^.]{0,40}\b\d+\.\d+\.\d+\.\d+")
_NUMBER: Final = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-|#\d{6,}")


def has_number(text: str) -> bool:
    """Whether *text* has the number of an incident, or the visitor's address."""
    return _INCIDENT.search(text) is not None


def has_edges_number(text: str) -> bool:
    """Whether *text* has a number of Akamai's own answers."""
    return _EDGE.search(text) is not None


def names_visitor(text: str) -> bool:
    """Whether *text* has the visitor's address, and a number."""
    return _ADDRESS.search(text) is not None and _NUMBER.search(text) is not None
