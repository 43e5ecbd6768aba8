"""Failures of one connection, before they become Scrapy's errors."""

from __future__ import annotations

from scrapy.exceptions import DownloadFailedError


class BadResponseError(DownloadFailedError):
    """The server's bytes cannot be parsed as a response."""


class SilentError(BadResponseError):
    """The connection ended before the first byte of a response."""


class IncompleteError(Exception):
    """The connection ended, or became unparsable, in the middle of a body."""


class StaleConnectionError(SilentError):
    """The server closed a kept connection before sending any response. The request may be sent again over a new one, at
    its host's pace; raised for GET and HEAD only."""
