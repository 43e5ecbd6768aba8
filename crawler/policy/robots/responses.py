"""robots.txt by RFC 9309: what a response means, what the file asks for, when to retry. Pure."""

from __future__ import annotations

import codecs
import math
import re
import zlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from protego import RequestRate

from crawler.policy.budgets import Budget
from crawler.policy.robots.file import RobotsFile
from crawler.urls import without_credentials

MAX_BYTES: Final = 500 * 1024  # RFC 9309 2.5: at least this much has to be parsed; here no more
MOST_MEMBERS: Final = 2_000  # of a packed file; each may be empty
PIECE: Final = 4_096  # bytes read at a time: what follows a member is copied at its end
MAX_DELAY_SECONDS: Final = 3_600.0  # a longer one is a mistake, or means "do not crawl", which robots.txt can say
MAX_SITEMAPS: Final = 100
MAX_WAIT_SECONDS: Final = 3_600.0  # between tries at an unreachable file

_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_GZIP: Final = b"\x1f\x8b"
_PERCENT: Final = "shoal.percent"  # for `errors` of decode
_FROM_NUL: Final = re.compile(r"\0[^\r\n]*")


class RobotsVerdict(StrEnum):
    """What the response for robots.txt means for the pages of its origin."""

    RULES = "rules"  # obey the file
    ALLOW = "allow"  # no file: everything is allowed
    LATER = "later"  # unreachable: nothing is allowed for now


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """What a robots.txt says besides its rules."""

    delay_seconds: float = 0.0
    sitemaps: tuple[str, ...] = ()
    hours: Budget = field(default_factory=Budget)  # in which it may be visited (UTC), without limits


def verdict(status: int) -> RobotsVerdict:
    """The meaning of a final response (redirects followed).

    429 means "not now", not "no file", as Google reads it too; RFC 9309 counts it among the 4xx. 304, which nobody
    asked for, says that there is a file and not what it says, and the RFC says nothing of it.
    """
    if 200 <= status < 300:
        return RobotsVerdict.RULES
    return RobotsVerdict.LATER if status in {304, 429} or status >= 500 else RobotsVerdict.ALLOW


def text(body: bytes) -> str:
    """The text of a robots.txt: UTF-8, or UTF-16 with a byte order mark, also of one that is packed and does not say
    so.

    Bytes that are not UTF-8 become percent-encoded, as in URLs. A NUL ends what its line says and no other line, as in
    the reference parser. Only the first MAX_BYTES count, without the line that is cut.
    """
    if body.startswith(_GZIP):
        body = _unpacked(body)
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES]
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1] or body
    encoding, skipped = _encoding(body)
    decoded = body[skipped:].decode(encoding, errors=_PERCENT if encoding == "utf-8" else "ignore")
    return _FROM_NUL.sub("", decoded)


def _unpacked(body: bytes) -> bytes:
    """What the members of *body* hold, up to where it is damaged, and to one byte beyond MAX_BYTES."""
    found, at, members = bytearray(), 0, 0
    while body.startswith(_GZIP, at) and members < MOST_MEMBERS and len(found) <= MAX_BYTES:
        at = _read_member(body, at, found)
        members += 1
    return bytes(found)


def _read_member(body: bytes, at: int, found: bytearray) -> int:
    """Add to *found* what the member at *at* holds; returns where the next one begins."""
    unpack = zlib.decompressobj(31)  # 31: gzip
    try:
        while not unpack.eof and at < len(body) and len(found) <= MAX_BYTES:
            piece = body[at : at + PIECE]
            at += len(piece)
            found += unpack.decompress(piece, MAX_BYTES + 1 - len(found))
    except zlib.error:
        return len(body)
    return at - len(unpack.unused_data)


def _encoding(body: bytes) -> tuple[str, int]:
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return encoding, len(bom)
    if body[1:2] == b"\0" != body[:1]:
        return "utf-16-le", 0
    if body[:1] == b"\0" != body[1:2]:
        return "utf-16-be", 0
    return "utf-8", next((size for size in (2, 1) if body.startswith(codecs.BOM_UTF8[:size])), 0)


def _percent_encoded(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "".join(f"%{byte:02X}" for byte in error.object[error.start : error.end]), error.end


codecs.register_error(_PERCENT, _percent_encoded)


def robots_rules(file: RobotsFile, agent: str) -> RobotsRules:
    """The longest of Crawl-delay and Request-rates, the sitemaps, and the hours."""
    told = file.group(agent)
    delays = (told.delay or 0.0, *map(_interval, told.rates))
    delay = max(each if math.isfinite(each) else 0.0 for each in delays)
    sitemaps = tuple(map(without_credentials, file.sitemaps[:MAX_SITEMAPS]))
    return RobotsRules(min(max(delay, 0.0), MAX_DELAY_SECONDS), sitemaps, Budget(hours=told.hours))


def _interval(rate: RequestRate) -> float:
    try:
        return rate.seconds / rate.requests if rate.requests else 0.0
    except OverflowError:  # numbers of hundreds of digits
        return math.inf


def next_try_seconds(failing_for: float, least: float) -> float:
    """How long to wait before retrying a file that has been unreachable for *failing_for* seconds: as long again,
    within [*least*, MAX_WAIT_SECONDS]."""
    return max(least, min(failing_for, MAX_WAIT_SECONDS))
