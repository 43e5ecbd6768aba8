"""Between a Scrapy Request and a queued message: encoding, fingerprint, host rules, tier."""
