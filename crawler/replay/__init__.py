"""Runs archived pages through callbacks and pipelines again: Scrapy's engine with a scheduler and a downloader that
never use the network."""
