"""What the frontier raises when its Redis does not serve a call; the error of redis-py is the `__cause__`."""

from __future__ import annotations

from crawler.errors import ServiceError


class FrontierError(ServiceError):
    """A call was not served. Unless it was refused, nobody knows whether it took effect: a retry must be harmless."""


class FrontierUnavailableError(FrontierError):
    """Redis is away, fails over, is full or cannot write its disk: try again later, once somebody has seen to it."""


class FrontierFullError(FrontierUnavailableError):
    """Redis is at its maxmemory: send less at once, or wait until acknowledgements have made room."""


class FrontierRefusedError(FrontierError):
    """Redis refuses the call itself, and waiting would not help: mend its permissions, its version or its data."""
