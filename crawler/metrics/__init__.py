"""Metrics in Prometheus' formats: of one worker, of several on one machine, and of the whole fleet.

Each figure has one exporter, so that it can be summed: a worker exports itself, the leader of `scrapy serve` the fleet.
"""
