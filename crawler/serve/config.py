"""The settings of `scrapy serve`, read and checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """Where it listens, how long a leader's lease lasts, and how long the event loop may be stuck."""

    host: str
    port: int  # 0 = chosen by the system
    lease_seconds: float
    max_lag_seconds: float

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError for a value out of range."""
        host = settings.get("SERVE_HOST")
        if not isinstance(host, str) or not host.strip():
            raise ConfigError("SERVE_HOST", host, "an address or a host name of this machine")
        return cls(
            host=host.strip(),
            port=config.integer(settings, "SERVE_PORT"),
            lease_seconds=config.number(settings, "SERVE_LEASE_SECONDS"),
            max_lag_seconds=config.number(settings, "HEALTH_MAX_LAG_SECONDS"),
        )
