"""How a request ends for the frontier: done, tried again, or kept as a dead letter.

It fails closed: an end for which there is no evidence of success is tried again, and only a bounded number of
deliveries later becomes a dead letter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from crawler.policy.failures import FailureClass

EXCERPT_CHARS: Final = 500
# Why a dead letter may be one, beside http_ and a status: what `scrapy dead --reason` takes (docs/operations.md).
DEAD_REASONS: Final = (
    *("spider_error", "item_error", "blocked", "download_error", "malformed", "deliveries", "unknown_end"),
    *("unserialisable", "unserialisable_child", "unknown_callback", "undecodable", "bad_seed"),
    *("robots_unreachable", "host_down", "too_costly"),
)


class Verdict(StrEnum):
    """What the frontier is told."""

    ACK = "ack"
    NACK = "nack"
    BURY = "bury"
    GONE = "gone"  # acknowledged, and kept apart: the site refuses it for good


@dataclass(slots=True)
class Evidence:
    """What was seen of one request between its lease and its end."""

    status: int | None = None  # of the last response, None without one
    failure: FailureClass | None = None  # of the answer, or of its lack, after the last try
    excerpt: str = ""  # of a failed answer's body
    page: str = ""  # the id of its archived page, where it was kept for its failure
    block: str = ""  # who blocked it, and why it was not tried in a higher tier
    ignored: str = ""  # robots.txt, offsite or another middleware refused it
    given_up: str = ""  # nothing may be asked of its host, for too long now
    origin: str = ""  # whose robots.txt could not be reached then
    download_error: str = ""  # no response, and no retry is left
    errback: bool = False  # the spider has an errback for that
    replaced: bool = False  # a middleware answered with another request, which is queued
    malformed: str = ""  # why nobody can use the answer, should the spider not take it
    handed: bool = False  # its callback was given the answer
    parsed: bool = False  # the callback or errback ran to its end
    spider_error: str = ""
    costly: str = ""  # what its page takes too much of, so that no callback gets it
    too_costly: bool = False  # and that error was what the page costs to read
    item_errors: list[str] = field(default_factory=list)
    child_errors: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The verdict, and the reason under which it is counted."""

    verdict: Verdict
    reason: str
    detail: str = ""


def conclude(seen: Evidence) -> Conclusion:  # noqa: PLR0911 - one line per way to end, in order of precedence
    """What is concluded for one ended request."""
    if seen.spider_error:
        return Conclusion(Verdict.BURY, "too_costly" if seen.too_costly else "spider_error", seen.spider_error)
    if seen.child_errors:
        return Conclusion(Verdict.BURY, "unserialisable_child", seen.child_errors[0])
    if seen.item_errors:
        return Conclusion(Verdict.NACK, "item_error", seen.item_errors[0])
    if seen.given_up:
        return Conclusion(Verdict.BURY, "robots_unreachable", seen.given_up)
    if seen.replaced:
        return Conclusion(Verdict.ACK, "replaced")
    if seen.ignored:
        return Conclusion(Verdict.ACK, "ignored", seen.ignored)
    if seen.failure is FailureClass.BLOCKED:
        return Conclusion(Verdict.BURY, "blocked", seen.block or seen.download_error)
    return _of_answer(seen)


def _of_answer(seen: Evidence) -> Conclusion:
    """What came, or that nothing did, decides."""
    if seen.download_error and not seen.errback:
        verdict = Verdict.ACK if seen.failure is FailureClass.PERMANENT else Verdict.BURY
        return Conclusion(verdict, "download_error", seen.download_error)
    if seen.malformed and not seen.handed:
        return Conclusion(Verdict.BURY, "malformed", seen.malformed)
    if not seen.download_error and not seen.malformed and seen.failure not in {None, FailureClass.PERMANENT}:
        return Conclusion(Verdict.BURY, f"http_{seen.status}")
    if seen.parsed and seen.failure is FailureClass.PERMANENT and not (seen.handed or seen.download_error):
        return Conclusion(Verdict.GONE, f"http_{seen.status}")
    if seen.parsed:
        return Conclusion(Verdict.ACK, "permanent" if seen.failure is FailureClass.PERMANENT else "done")
    return Conclusion(Verdict.NACK, "unknown_end")


def excerpt(body: bytes) -> str:
    """The beginning of *body* as one line of printable text, whatever it is."""
    text = body[: 8 * EXCERPT_CHARS].decode("utf-8", "replace")
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line[:EXCERPT_CHARS]
