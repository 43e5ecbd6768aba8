"""A plain scrapy-redis project with a plain pymongo pipeline: what the benchmark compares with."""
