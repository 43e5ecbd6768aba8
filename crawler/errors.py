"""Every error a person can meet. Messages name place and value, what is expected, and what to do."""

from __future__ import annotations

from scrapy.exceptions import CannotResolveHostError, DownloadFailedError, DownloadTimeoutError, DropItem, IgnoreRequest
from scrapy.http import Response

from crawler.base_errors import ConfigError, ServiceError, ShoalError, clipped, shown
from crawler.utils.durations import in_words

__all__ = [
    "AddressRefusedError",
    "BlockedError",
    "BrowserError",
    "CodecError",
    "ConfigError",
    "EndingError",
    "MessageError",
    "OtherReleaseError",
    "PageTimeoutError",
    "ProxyError",
    "RobotsUnreachableError",
    "RobotsUnresolvedError",
    "ServiceError",
    "ShoalError",
    "TabLostError",
    "TooCostlyError",
    "UnstoredItem",
    "clipped",
    "shown",
]


class MessageError(ShoalError):
    """A pushed message (a line of `scrapy push`, an entry of a start-URLs key) breaks the schema."""


class CodecError(ShoalError):
    """A request cannot be written to, or read from, the frontier."""


class OtherReleaseError(CodecError):
    """A stored request names a callback, argument of it, errback, request class, or class or field of an item that this
    release of the spider lacks."""

    def __init__(self, spider: str, kind: str, name: object, url: str) -> None:
        super().__init__(f"spider {spider!r} has no {kind} {name!r}, which the request of {url} names")
        self.kind = kind
        self.name = str(name)
        self.url = url


class ProxyError(DownloadFailedError):
    """A proxy was unreachable, refused us, or failed before connecting to the target: not the target's fault."""


class AddressRefusedError(Exception):
    """A host resolves to an address that must not be dialled (GUARD_ALLOWED_NETWORKS): retrying is useless."""


class BlockedError(IgnoreRequest):
    """The response is a block page, an empty app shell or a page without its content: kept from the spider whatever its
    status. `meta["allow_blocked"]` lets it through."""

    def __init__(self, response: Response, why: str) -> None:
        super().__init__(f"{response} is not the page: {why}")
        self.response = response


class TooCostlyError(Exception):
    """Reading a page took more CPU or memory than one page may: it becomes a dead letter `too_costly`."""


class UnstoredItem(DropItem):
    """MongoDB is away, no spool takes the item, and its worker has to end: the page is given back to the frontier."""

    def __init__(self) -> None:
        super().__init__("MongoDB is away and this worker has to end: its page is given back, to be fetched again")


class EndingError(Exception):
    """A request beside the queue (media, robots.txt) waited for a turn until its worker had to end: the page
    that asked for it is given back to the frontier. Or it was asked for when its worker had left the fleet."""


class RobotsUnresolvedError(CannotResolveHostError):
    """A page is not sent: its robots.txt could not be asked for, as the host's name does not resolve here. No proxy of
    the page's own is to blame."""


class RobotsUnreachableError(IgnoreRequest):
    """The robots.txt of *origin* was unreachable for so long that its pages are given up."""

    def __init__(self, origin: str, seconds: float) -> None:
        super().__init__(
            f"{origin}/robots.txt could not be reached for {in_words(seconds)}, so nothing is allowed there"
        )
        self.origin = origin


class BrowserError(DownloadFailedError):
    """The browser died, hung or did not start, or its tab crashed: not the host's fault, another browser may
    succeed."""


class TabLostError(BrowserError):
    """The browser ended because of what another page did: to be loaded again at its host's pace, which is no retry.
    Raised for GET and HEAD only."""


class PageTimeoutError(DownloadTimeoutError):
    """The document came in time, and its scripts never let it load in the browser: the page's fault, not the host's."""
