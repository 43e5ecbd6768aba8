"""The api tier: pages from scraping APIs."""

from crawler.handlers.api.handler import ApiDownloadHandler

__all__ = ["ApiDownloadHandler"]
