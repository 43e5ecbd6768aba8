"""What one page may cost whoever reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from scrapy.settings import BaseSettings

from crawler import config


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one page may cost, and the size from which a page is read in the child anyway."""

    characters: int
    seconds: float
    memory_bytes: int

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError."""
        return cls(
            characters=config.integer(settings, "PARSE_APART_KB") * 1_000,
            seconds=config.number(settings, "PARSE_MAX_SECONDS"),
            memory_bytes=config.integer(settings, "PARSE_MAX_MB") * 1_000_000,
        )
