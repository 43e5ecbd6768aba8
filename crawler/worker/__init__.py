"""One worker's share of the frontier, behind Scrapy's scheduler interface."""
