"""Decisions without I/O: what follows from what was seen. Settings and TOML files in, values out."""
