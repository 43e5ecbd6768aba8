"""Pools of proxies: how they are written, which one a request goes through, and what the fleet knows of its health."""
