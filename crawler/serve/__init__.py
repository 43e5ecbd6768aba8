"""`scrapy serve`: the long-running service beside workers; any number of replicas, one of which leads.

`parts.py` lists what it does: its routes, and the periodic tasks of leader and replicas.
"""
