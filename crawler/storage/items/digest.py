"""A hash of values that is equal exactly if the values are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import blake2b
from typing import Any

from crawler.storage.items.codec import DECIMAL128
from crawler.storage.items.values import plain


def digest_of(values: Mapping[str, Any]) -> str:
    """Decimals compare by value (10.0 is 10.00), key order is ignored; raises JSON's errors for anything else."""
    return blake2b(_encode(values).encode("ascii"), digest_size=16).hexdigest()


def _plain(value: Any) -> Any:
    """JSON for types that JSON lacks; their key starts with $, as no stored field does."""
    if isinstance(value, Decimal):
        return {"$decimal": str(value.normalize(DECIMAL128)) if value else "0"}
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return {"$time": aware.astimezone(UTC).isoformat(timespec="milliseconds")}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    return plain(value)


_encode = json.JSONEncoder(sort_keys=True, allow_nan=False, separators=(",", ":"), default=_plain).encode
