"""What the frontier raises when a Redis call fails; the error of redis-py is the `__cause__`."""

from __future__ import annotations

from crawler.errors import ServiceError


class FrontierError(ServiceError):
    """A call failed. Unless it was refused, it may have taken effect or not: a retry must be harmless."""


class FrontierUnavailableError(FrontierError):
    """Redis is away, fails over, is full or cannot write its disk: try again later, once that is fixed."""


class FrontierFullError(FrontierUnavailableError):
    """Redis is at its maxmemory: send less at once, or wait until acknowledgements have made room."""


class FrontierRefusedError(FrontierError):
    """Redis refuses the call itself, and waiting would not help: fix its permissions, its version or its data."""
