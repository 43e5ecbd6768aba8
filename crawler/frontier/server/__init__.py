"""The frontier's Redis: connections, scripts, shards, keys, and checks of the server."""
