"""What the fleet shares in Redis besides the queue: robots.txt, tiers, cookies, proxy health, dead letters ..."""
