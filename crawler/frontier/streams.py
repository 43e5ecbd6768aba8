"""Streams: the queues of a spider, one per tier."""

from __future__ import annotations

from crawler.policy.tiers import TIERS, Tier


def stream_of(spider: str, tier: Tier = "http") -> str:
    """The stream of a spider and tier: `products`, `products:browser`."""
    return spider if tier == "http" else f"{spider}:{tier}"


def tier_of(stream: str) -> Tier:
    """The tier of a stream: the inverse of `stream_of`."""
    name = stream.partition(":")[2]
    return next((tier for tier in TIERS if tier == name), "http")
