"""Archived pages through the same callbacks and pipelines once more: Scrapy's engine with a scheduler and a downloader
that know no network."""
