"""Scrapy extensions, one instance per worker: what observes a crawl, and what tells others of it."""
