"""Shoal: a distributed crawler on Scrapy. DESIGN in docs/, the flow of a page in README.md."""
