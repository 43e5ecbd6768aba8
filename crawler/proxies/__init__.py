"""Proxy pools: which proxy a request goes through, what it costs, and who is to blame for a failure."""
