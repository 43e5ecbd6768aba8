"""The settings of a worker as a whole; its parts have their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from scrapy.settings import BaseSettings

from crawler import config


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """What belongs to no part alone."""

    close_seconds: float  # to send Redis what is left; then leases are left to expire
    address_seconds: float  # for which the address of a host holds once it is looked up

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError for a value out of range."""
        return cls(
            close_seconds=config.number(settings, "FRONTIER_CLOSE_SECONDS"),
            address_seconds=config.number(settings, "POLITENESS_ADDRESS_SECONDS"),
        )
