"""`scrapy serve`: the one long-running service beside workers, any number of replicas of which one leads.

`parts.py` lists what it does: its routes, and what only the leader does again and again.
"""
