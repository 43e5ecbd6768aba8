"""The HTTP handler."""

from crawler.handlers.http.handler import HttpConfig, HttpDownloadHandler

__all__ = ["HttpConfig", "HttpDownloadHandler"]
