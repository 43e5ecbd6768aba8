"""Crawls and their runs: opened, joined, counted, steered by operators, ended; see docs/runs.md."""
