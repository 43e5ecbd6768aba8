"""Errors of failed Redis calls; the error of redis-py is the `__cause__`."""

from __future__ import annotations

from crawler.errors import ServiceError


class FrontierError(ServiceError):
    """A call failed. Unless it was refused it may have taken effect: retries must be harmless."""

    key = ""  # what the call was about, if that is known


class FrontierUnavailableError(FrontierError):
    """Redis is away, failing over, full, or cannot write its disk: retry later."""


class ShardAwayError(FrontierUnavailableError):
    """Its node of a Cluster does not serve this shard; others may be served."""


class FrontierFullError(FrontierUnavailableError):
    """Redis is at its maxmemory: send less at once, or wait until acknowledgements make room."""


class FrontierRefusedError(FrontierError):
    """Redis refuses the call, and waiting would not help: fix its permissions, version or data."""
