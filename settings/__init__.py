"""Every tunable of the project; `scrapy.cfg` maps SCRAPY_PROJECT to one of these modules."""
