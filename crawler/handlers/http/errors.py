"""What can go wrong on one connection, before it is put into Scrapy's words."""

from __future__ import annotations

from scrapy.exceptions import DownloadFailedError


class BadResponseError(DownloadFailedError):
    """What the server sent cannot be read as a response."""


class SilentError(BadResponseError):
    """The connection ended before one byte of a response came."""


class IncompleteError(Exception):
    """The connection ended, or stopped making sense, in the middle of a body."""


class StaleConnectionError(SilentError):
    """A kept connection was closed by its server, at the latest when the request came: nothing was answered. It may be
    sent again over a new one, in its host's pace; only GET and HEAD fail so."""
