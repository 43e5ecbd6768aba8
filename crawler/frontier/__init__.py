"""All that touches Redis: the leased, host-fair, polite queue of the fleet, and Scrapy's scheduler on top of it."""
