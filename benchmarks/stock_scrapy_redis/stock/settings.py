"""Those of `scrapy startproject`, those of scrapy-redis' README, and nothing tuned."""

BOT_NAME = "stock"
SPIDER_MODULES = ["stock.spiders"]
ROBOTSTXT_OBEY = True
DOWNLOAD_DELAY = 0

SCHEDULER = "scrapy_redis.scheduler.Scheduler"
DUPEFILTER_CLASS = "scrapy_redis.dupefilter.RFPDupeFilter"
SCHEDULER_PERSIST = True
ITEM_PIPELINES = {"stock.pipelines.MongoPipeline": 300}

LOG_LEVEL = "INFO"
