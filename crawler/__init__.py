"""Shoal: a distributed crawler on Scrapy. docs/architecture.md says how a page flows and where a new line belongs."""
