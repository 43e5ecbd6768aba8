"""Middlewares; `components.py` says in which order they run."""
