"""How long to wait before a retry. Pure: randomness is an argument."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime

MAX_RETRY_AFTER_SECONDS = 86_400.0


def full_jitter(attempt: int, base: float, cap: float, uniform: Callable[[float, float], float]) -> float:
    """Seconds to wait before try number *attempt* + 1: uniform in [0, min(cap, base * 2^(attempt - 1))].

    Full jitter spreads a fleet's retries over the window instead of sending them as a second wave.
    """
    return uniform(0.0, min(cap, base * 2.0 ** min(max(attempt - 1, 0), 32)))


def retry_after(value: str | None, now: datetime) -> float:
    """Seconds that a Retry-After header asks for, in either form; 0 if it is absent or invalid.

    Capped at a day. *now* is aware.
    """
    if not value:
        return 0.0
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(float(value[:12]), MAX_RETRY_AFTER_SECONDS)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):  # OverflowError: a number beyond any date or zone
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=now.tzinfo)
    return min(max((moment - now).total_seconds(), 0.0), MAX_RETRY_AFTER_SECONDS)
