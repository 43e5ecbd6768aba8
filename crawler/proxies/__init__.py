"""Proxy pools: which proxy a request goes through, what it costs, and whose fault a failure is."""
