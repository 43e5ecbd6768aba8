"""Stored pages as a folder of Markdown files, one per page, with front matter."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, Self
from urllib.parse import urlsplit

LONGEST_NAME: Final = 100  # characters of the readable part

_FRONT: Final = ("url", "title", "author", "published_at", "language", "fetched_at")
_UNSAFE = re.compile(r"[^a-z0-9.]+|\.{2,}")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)\.")  # on Windows, where they may be copied to


class MarkdownFiles:
    """Writes into *folder*. A page always gets the same file, and no two share one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def into(cls, folder: str) -> Self:
        """Create the folder if it is missing; raises OSError if that fails."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        return cls(path)

    def write(self, document: Mapping[str, Any]) -> None:
        """Write one document: its Markdown, or its text if an older release stored no Markdown."""
        path = self._folder / file_name(str(document.get("_id", "")), str(document.get("url", "")))
        part = unfinished(path)
        try:
            part.write_text(page(document), encoding="utf-8", errors="replace")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def unfinished(path: Path) -> Path:
    """Where to write what is to become *path*: a name of its own, as another program may be writing the same file."""
    return path.with_name(f".{token_hex(8)}.part")


def file_name(identity: str, url: str) -> str:
    """Host and path in lower-case letters, digits, dots and hyphens, and a hash of the document's *identity*."""
    try:
        parts = urlsplit(url)
        readable = f"{parts.hostname or ''}{parts.path}"
    except ValueError:
        readable = ""
    name = _UNSAFE.sub("-", readable.lower())[:LONGEST_NAME].strip("-.")
    digest = sha256(identity.encode("utf-8", "replace")).hexdigest()[:12]
    if not name or _DEVICE.match(name):
        name = f"page-{name}".rstrip("-")
    return f"{name}-{digest}.md"


def page(document: Mapping[str, Any]) -> str:
    """Front matter in YAML, a blank line, the text."""
    lines = [f"{_NAMES.get(name, name)}: {_scalar(document[name])}" for name in _FRONT if document.get(name)]
    body = document.get("markdown") or document.get("text") or ""
    return "\n".join(("---", *lines, "---", "", str(body).strip(), ""))


_NAMES: Final = {"published_at": "date"}


def _scalar(value: Any) -> str:
    """A quoted string that YAML and JSON read alike, on one line."""
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    return json.dumps("".join(each if each.isprintable() else " " for each in text), ensure_ascii=False)
