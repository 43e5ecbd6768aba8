"""Signed webhooks: content, signature, retries."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any, Final

FIRST_WAIT_MS: Final = 5_000
LONGEST_WAIT_MS: Final = 3_600_000
MOST_TRIES: Final = 30  # about a day
ENOUGH: Final = 20  # finished requests of a run before the share of failures is meaningful


def wait_ms(tries: int) -> int:
    """How long to wait after that many failed tries, doubling each time."""
    return int(min(FIRST_WAIT_MS * 2 ** min(max(tries, 1) - 1, 20), LONGEST_WAIT_MS))


def body(event: str, delivery: str, run: Mapping[str, Any]) -> bytes:
    """The posted body: UTF-8 JSON with sorted keys."""
    document = {"event": f"run.{event}", "delivery": delivery, "run": run}
    return json.dumps(document, sort_keys=True, default=str).encode()


def headers(secret: str, sent_s: int, delivery: str, content: bytes) -> dict[str, str]:
    """*sent_s*: Unix seconds. The signature covers `<timestamp>.<body>`: a receiver can refuse old or altered
    messages."""
    told = {"Content-Type": "application/json", "X-Shoal-Delivery": delivery, "X-Shoal-Timestamp": str(sent_s)}
    if secret:
        told["X-Shoal-Signature"] = f"sha256={signature(secret, sent_s, content)}"
    return told


def signature(secret: str, sent_s: int, content: bytes) -> str:
    """HMAC-SHA256 in hexadecimal digits."""
    return hmac.new(secret.encode(), b"%d." % sent_s + content, hashlib.sha256).hexdigest()


def is_failing(done: int, dead: int, share: float) -> bool:
    """Whether the share of dead letters among finished requests calls for an alert; never with a *share* of 0."""
    ended = done + dead
    return share > 0 and ended >= ENOUGH and dead >= share * ended
