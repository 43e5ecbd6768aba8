"""The browser tier: one Chromium behind an egress proxy."""

from crawler.handlers.browser.handler import BrowserDownloadHandler

__all__ = ["BrowserDownloadHandler"]
