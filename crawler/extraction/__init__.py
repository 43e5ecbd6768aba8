"""HTML and its URL -> fields. Pure: no file, no network, no Scrapy."""
