"""Figures in Prometheus' formats: of one worker, of several on one machine, and of the whole fleet.

A figure has one exporter, so that it may be summed: a worker exports itself, the leader of `scrapy serve` the fleet.
"""
