"""Child processes of a command: started, monitored, restarted and ended with it (`scrapy crawl --workers`,
`reparse`)."""
