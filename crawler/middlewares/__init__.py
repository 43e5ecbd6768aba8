"""Middlewares, by whose chain they are in, and their bases; `components.py` says in which order they run."""
