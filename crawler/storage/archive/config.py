"""The ARCHIVE_* settings, read and checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import ConfigError

SCHEMES: Final = ("s3", "gs", "az", "file")


class Keep(StrEnum):
    """Which fetched pages are archived."""

    ALL = "all"
    CHANGED = "changed"  # pages that differ from the URL's last archived one, and failed parses
    FAILED = "failed"  # only failed parses and blocked or empty pages
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ArchiveConfig:
    """What is archived, where, and for how long; 0 days or bytes: no limit."""

    keep: Keep = Keep.NONE
    directory: Path = Path()
    uri: str = ""  # where finished files go; empty: they stay in the directory
    options: Mapping[str, Any] = field(default_factory=dict)
    file_bytes: int = 256 * 2**20
    file_seconds: float = 3_600
    keep_days: int = 0
    keep_bytes: int = 0
    failed_bytes: int = 0  # of these, the share of files that hold only failures
    pending_bytes: int = 4 * 2**30

    @property
    def most_bytes(self) -> int:
        """Size of one file: retention deletes whole files, so a small archive has small files."""
        bound = (self.failed_bytes if self.keep is Keep.FAILED else 0) or self.keep_bytes
        return min(self.file_bytes, bound // 4) if bound else self.file_bytes

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError naming the setting, its value and what is expected."""
        return cls(
            keep=Keep(config.choice(settings, "ARCHIVE_PAGES", list(Keep))),
            directory=Path(str(settings.get("ARCHIVE_DIR"))).absolute(),
            uri=_uri(settings),
            options=config.mapping(settings, "ARCHIVE_OPTIONS"),
            file_bytes=int(config.number(settings, "ARCHIVE_FILE_MB") * 2**20),
            file_seconds=config.number(settings, "ARCHIVE_FILE_SECONDS"),
            keep_days=config.integer(settings, "ARCHIVE_KEEP_DAYS"),
            keep_bytes=int(config.number(settings, "ARCHIVE_KEEP_GB") * 2**30),
            failed_bytes=int(config.number(settings, "ARCHIVE_FAILED_GB") * 2**30),
            pending_bytes=int(config.number(settings, "ARCHIVE_PENDING_GB") * 2**30),
        )


def _uri(settings: Mapping[str, Any]) -> str:
    value = str(settings.get("ARCHIVE_URI") or "")
    parts = urlsplit(value)
    if value and (parts.scheme not in SCHEMES or "@" in parts.netloc or not (parts.netloc or parts.path)):
        shown = f"{parts.scheme}://..." if "@" in value else value
        allowed = "empty, or s3://bucket/prefix, gs://bucket/prefix, az://account/container, file:///directory"
        raise ConfigError("ARCHIVE_URI", shown, f"{allowed}; credentials come from the environment")
    return value
