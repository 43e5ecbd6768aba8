"""Begins to trace, in a worker or in what pushes, if TRACES_RATIO asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrapy.settings import BaseSettings

from crawler.errors import ConfigError
from crawler.routing.encoder import Encoder
from crawler.tracing.config import TracesConfig

if TYPE_CHECKING:
    from crawler.tracing.provider import Tracing


def open_tracing(settings: BaseSettings, count: Callable[[str, int], object] = lambda *_: None) -> Tracing | None:
    """What makes spans in this process, and counts them as stats; None with TRACES_RATIO = 0, and where
    OTEL_SDK_DISABLED says so.

    Raises ConfigError where the extra `otel` is not installed, or cannot read one of its own variables.
    """
    terms = TracesConfig.from_settings(settings)
    if not terms.ratio:
        return None
    try:
        from crawler.tracing.provider import Tracing
    except ImportError as error:
        allowed = f"0, as OpenTelemetry is not installed (pip install './shoal[otel]'): {error}"
        raise ConfigError("TRACES_RATIO", terms.ratio, allowed) from None
    except ValueError as error:
        raise _unread(terms, error) from None
    try:
        tracing = Tracing(terms, count)
    except ValueError as error:
        raise _unread(terms, error) from None
    return tracing if tracing.is_on else None


def _unread(terms: TracesConfig, error: ValueError) -> ConfigError:
    allowed = f"0, or OTEL_* variables that OpenTelemetry can read ({error})"
    return ConfigError("TRACES_RATIO", terms.ratio, allowed)


@contextmanager
def tracing_pushes(settings: BaseSettings) -> Iterator[Callable[[Encoder], Encoder]]:
    """A function that makes an encoder trace what it queues, if *settings* ask for it; on exit the spans are sent."""
    if (tracing := open_tracing(settings)) is None:
        yield lambda encoder: encoder
        return
    from crawler.tracing.pushes import PushSpans

    def traced(encoder: Encoder) -> Encoder:
        encoder.tracer = PushSpans(tracing, encoder.spider.name)
        return encoder

    try:
        yield traced
    finally:
        tracing.close()
