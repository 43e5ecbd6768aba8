"""How a request ends for the frontier: done, retried, or dead-lettered.

It fails closed: an end without evidence of success is retried, and becomes a dead letter after a bounded number of
deliveries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from crawler.policy.endings.failures import FailureClass
from crawler.utils.masking import mask_logins

EXCERPT_CHARS: Final = 500
# Reasons of dead letters, besides http_ and a status: the values of `scrapy dead --reason` (docs/operations.md).
DEAD_REASONS: Final = (
    *("spider_error", "item_error", "blocked", "download_error", "malformed", "deliveries", "unknown_end"),
    "close_spider",
    *("unserialisable", "unserialisable_child", "unknown_callback", "undecodable", "bad_seed"),
    *("robots_unreachable", "host_down", "too_costly"),
)


class Verdict(StrEnum):
    """What to tell the frontier."""

    ACK = "ack"
    NACK = "nack"
    BURY = "bury"
    GIVE_BACK = "give_back"  # to be fetched again, uncharged
    GONE = "gone"  # acknowledged and listed: the site refuses it for good


@dataclass(slots=True)
class Evidence:
    """What is known of one request between its lease and its end."""

    status: int | None = None  # of the last response, None without one
    failure: FailureClass | None = None  # of the response, or of its lack, after the last try
    excerpt: str = ""  # of a failed response's body
    page: str = ""  # the id of its archived page, if it was kept because it failed
    block: str = ""  # the vendor that blocked it, and why it was not tried in a higher tier
    ignored: str = ""  # robots.txt, offsite or another middleware refused it
    given_up: str = ""  # its host has been forbidden for too long
    origin: str = ""  # whose robots.txt was unreachable then
    download_error: str = ""  # no response, and no retry left
    errback: bool = False  # the spider has an errback for it
    replaced: bool = False  # a middleware returned another request, which is queued
    malformed: str = ""  # why the response is unusable, unless the spider handles it
    handed: bool = False  # its callback received the response
    parsed: bool = False  # the callback or errback ran to its end
    closed: str = ""  # why its callback or errback closed the spider
    spider_error: str = ""
    costly: str = ""  # the limit its page exceeds, so that no callback gets it
    too_costly: bool = False  # and that error was about the cost of reading the page
    item_errors: list[str] = field(default_factory=list)
    unstored: bool = False  # an item of its page was not stored, which is nobody's fault
    child_errors: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The verdict, and the reason it is counted under."""

    verdict: Verdict
    reason: str
    detail: str = ""


def conclude(seen: Evidence) -> Conclusion:  # noqa: PLR0911 - one line per way to end, in order of precedence
    """The conclusion for one ended request."""
    if seen.unstored:
        return Conclusion(Verdict.GIVE_BACK, "unstored")
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
    """Decided by the response, or by its absence."""
    if seen.download_error and not seen.errback:
        return Conclusion(Verdict.BURY, "download_error", seen.download_error)
    if seen.malformed and not seen.handed:
        return Conclusion(Verdict.BURY, "malformed", seen.malformed)
    is_kept = seen.download_error or seen.malformed or seen.handed  # by an errback, or a callback that wants the status
    if not is_kept and seen.failure not in {None, FailureClass.PERMANENT}:
        return Conclusion(Verdict.BURY, f"http_{seen.status}")
    if seen.parsed and _is_refused(seen) and not (seen.handed or seen.download_error):
        return Conclusion(Verdict.GONE, f"http_{seen.status}")
    if seen.parsed:
        return Conclusion(Verdict.ACK, "permanent" if seen.failure is FailureClass.PERMANENT else "done")
    return Conclusion(Verdict.NACK, "close_spider" if seen.closed else "unknown_end", seen.closed)


def _is_refused(seen: Evidence) -> bool:
    """Whether the answer is none and will stay so: refused for good, or a 300 or 305, say, that leads nowhere."""
    return seen.failure is FailureClass.PERMANENT or (seen.failure is None and 300 <= (seen.status or 0) < 400)


def excerpt(body: bytes) -> str:
    """The start of *body* as one line of printable text without credentials, whatever it contains."""
    text = body[: 8 * EXCERPT_CHARS].decode("utf-8", "replace")
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return mask_logins(line)[:EXCERPT_CHARS]
