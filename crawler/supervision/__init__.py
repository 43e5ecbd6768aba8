"""The processes of one command: started, watched, restarted and ended with it (`scrapy crawl --workers`, `reparse`)."""
