"""Values of labels as scrapers can keep them: short, and Unicode."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

MAX_LENGTH: Final = 120  # characters
_DIGEST: Final = 8  # hexadecimal digits


def fitted(value: str) -> str:
    """*value*, at most MAX_LENGTH characters and without lone surrogates. What is changed by that ends in `~` and a
    digest, so that different values stay apart."""
    text = value.encode(errors="replace").decode()
    if text == value and len(value) <= MAX_LENGTH:
        return value
    digest = sha256(value.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{text[: MAX_LENGTH - _DIGEST - 1]}~{digest}"
