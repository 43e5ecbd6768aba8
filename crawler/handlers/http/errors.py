"""What can go wrong on one connection, before it is put into Scrapy's words."""

from __future__ import annotations

from scrapy.exceptions import DownloadFailedError


class BadResponseError(DownloadFailedError):
    """What the server sent cannot be read as a response."""


class IncompleteError(Exception):
    """The connection ended, or stopped making sense, in the middle of a body."""
