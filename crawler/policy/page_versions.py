"""Which ETags and Last-Modifieds a later request may repeat as its condition (RFC 9110, 8.8 and 13.1). Pure.

A condition that holds whatever the page is would be answered with 304 for ever.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

AHEAD: Final = timedelta(days=1)  # by which a server's clock may be off, or its zone be wrong
# Without quotes none is one, but servers that send it know it.
_ETAG: Final = re.compile(r'(?:W/)?(?:"[^"]*"|(?!\*)[^\s",]+)')


def etag(told: str) -> str:
    """*told*, or "" for what is no single tag: `*` is any version of the page, a list several."""
    return told if _ETAG.fullmatch(told) else ""


def modified(told: str, fetched_at: datetime) -> str:
    """*told*, or "" for what is no date, and for one after the page was fetched: nothing would be newer."""
    if not told:
        return ""
    try:
        at = parsedate_to_datetime(told)
    except (ValueError, OverflowError, IndexError, TypeError):
        return ""
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return told if at <= fetched_at + AHEAD else ""
