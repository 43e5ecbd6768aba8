"""The Redis that the frontier lives on: connections, scripts, shards, keys, and whether it can be used."""
