"""Whether and which requests are traced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import ConfigError

_MIX: Final = 0x9E3779B97F4A7C15  # spreads fingerprints of a project's own, which need not be random
_MASK: Final = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class TracesConfig:
    """Which share of the requests is traced, and where their spans go: "" is what OpenTelemetry's own variables say."""

    ratio: float
    url: str

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> TracesConfig:
        """Raises ConfigError when a value is out of range."""
        url = str(settings["TRACES_URL"] or "")
        if url and (urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname):
            raise ConfigError("TRACES_URL", url, "the address of an OTLP receiver, http://collector:4318/v1/traces")
        return cls(ratio=config.number(settings, "TRACES_RATIO", 0, 1), url=url)

    def samples(self, fingerprint: int) -> bool:
        """Whether requests with *fingerprint* are traced: the same for whoever pushes and whoever fetches it."""
        return (fingerprint * _MIX & _MASK) < self.ratio * _MASK
