"""How the end of a request is settled with the frontier: done, tried again, or kept as a dead letter.

It fails closed: an end for which there is no evidence of success is tried again, and only a bounded number of
deliveries later becomes a dead letter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    """What the frontier is told."""

    ACK = "ack"
    NACK = "nack"
    BURY = "bury"


@dataclass(slots=True)
class Evidence:
    """What was seen of one request between its lease and its end."""

    status: int | None = None  # of the last response, None without one
    exhausted: bool = False  # the status is one that is retried, and no retry is left
    ignored: str = ""  # robots.txt, offsite or another middleware refused it
    download_error: str = ""  # no response, and no retry is left
    errback: bool = False  # the spider has an errback for that
    replaced: bool = False  # a middleware answered with another request, which is queued
    parsed: bool = False  # the callback or errback ran to its end
    spider_error: str = ""
    item_errors: list[str] = field(default_factory=list)
    child_errors: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Settlement:
    """The verdict, and the reason under which it is counted."""

    verdict: Verdict
    reason: str
    detail: str = ""


def settle(seen: Evidence) -> Settlement:  # noqa: PLR0911 - one line per way to end, in order of precedence
    """The settlement for one ended request."""
    if seen.spider_error:
        return Settlement(Verdict.BURY, "spider_error", seen.spider_error)
    if seen.child_errors:
        return Settlement(Verdict.BURY, "unserialisable_child", seen.child_errors[0])
    if seen.item_errors:
        return Settlement(Verdict.NACK, "item_error", seen.item_errors[0])
    if seen.replaced:
        return Settlement(Verdict.ACK, "replaced")
    if seen.ignored:
        return Settlement(Verdict.ACK, "ignored", seen.ignored)
    if seen.download_error and not seen.errback:
        return Settlement(Verdict.BURY, "download_error", seen.download_error)
    if seen.exhausted:
        return Settlement(Verdict.BURY, f"http_{seen.status}")
    if seen.parsed:
        return Settlement(Verdict.ACK, "done")
    return Settlement(Verdict.NACK, "unknown_end")
