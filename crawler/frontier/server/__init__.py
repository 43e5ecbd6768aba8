"""The frontier's Redis: connections, scripts, shards, keys, and whether it can be used."""
