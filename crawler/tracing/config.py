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
        if url and not _is_http(url):
            allowed = "the address of an OTLP receiver, http://collector:4318/v1/traces"
            raise ConfigError("TRACES_URL", config.shown_uri(url), allowed)
        return cls(ratio=config.number(settings, "TRACES_RATIO"), url=url)

    def samples(self, fingerprint: int) -> bool:
        """Whether requests with *fingerprint* are traced: the same for whoever pushes and whoever fetches it."""
        return (fingerprint * _MIX & _MASK) < self.ratio * _MASK


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets, or a port that is none
        return False
