"""Signed web-hooks: what is sent, how it is signed, when it is tried again."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any, Final

FIRST_WAIT_MS: Final = 5_000
LONGEST_WAIT_MS: Final = 3_600_000
MOST_TRIES: Final = 30  # about a day
ENOUGH: Final = 20  # requests of a run that have ended, before the share of failures says anything


def wait_ms(tries: int) -> int:
    """For how long to wait after that many tries that failed: twice as long each time."""
    return int(min(FIRST_WAIT_MS * 2 ** min(max(tries, 1) - 1, 20), LONGEST_WAIT_MS))


def body(event: str, delivery: str, run: Mapping[str, Any]) -> bytes:
    """What is posted: UTF-8 JSON with sorted keys."""
    document = {"event": f"run.{event}", "delivery": delivery, "run": run}
    return json.dumps(document, sort_keys=True, default=str).encode()


def headers(secret: str, sent_s: int, delivery: str, content: bytes) -> dict[str, str]:
    """*sent_s*: Unix seconds. The signature is over `<timestamp>.<body>`: a receiver refuses what is old or altered."""
    told = {"Content-Type": "application/json", "X-Shoal-Delivery": delivery, "X-Shoal-Timestamp": str(sent_s)}
    if secret:
        told["X-Shoal-Signature"] = f"sha256={signature(secret, sent_s, content)}"
    return told


def signature(secret: str, sent_s: int, content: bytes) -> str:
    """HMAC-SHA256 in hexadecimal digits."""
    return hmac.new(secret.encode(), b"%d." % sent_s + content, hashlib.sha256).hexdigest()


def is_failing(done: int, dead: int, share: float) -> bool:
    """Whether so many of what has ended is dead that somebody should be told; a *share* of 0 never is."""
    ended = done + dead
    return share > 0 and ended >= ENOUGH and dead >= share * ended
