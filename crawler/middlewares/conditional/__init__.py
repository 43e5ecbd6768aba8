"""Conditional requests: one middleware asks whether a page has changed, the other remembers its version."""
