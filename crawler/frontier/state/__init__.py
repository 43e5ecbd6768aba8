"""What the fleet shares in Redis beside the queue: robots.txt, tiers, cookies, proxies' health, dead letters."""
