"""How long to wait before a retry. Pure: randomness is an argument."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from crawler.policy.endings.response_headers import values_of

MAX_RETRY_AFTER_SECONDS = 86_400.0
_NAME: Final = "Retry-After"
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?", re.ASCII)


def full_jitter(attempt: int, base: float, cap: float, uniform: Callable[[float, float], float]) -> float:
    """Seconds to wait before try number *attempt* + 1: uniform in [0, min(cap, base * 2^(attempt - 1))].

    Full jitter spreads a fleet's retries over the window instead of sending them as a second wave.
    """
    return uniform(0.0, min(cap, base * 2.0 ** min(max(attempt - 1, 0), 32)))


def retry_after(headers: Mapping[Any, Any], now: datetime) -> float:
    """Seconds that the Retry-After of a response's *headers* asks for, the longest if there are several; 0 without one
    that makes sense.

    Capped at a day. *now* is aware.
    """
    return max((_seconds(value.decode("latin-1").strip(), now) for value in values_of(headers, _NAME)), default=0.0)


def _seconds(value: str, now: datetime) -> float:
    """Of either form; some servers send fractions (`2.0`)."""
    if _NUMBER.fullmatch(value):
        return min(float(value[:20]), MAX_RETRY_AFTER_SECONDS)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):  # OverflowError: a number beyond any date or zone
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=now.tzinfo)
    return min(max((moment - now).total_seconds(), 0.0), MAX_RETRY_AFTER_SECONDS)
