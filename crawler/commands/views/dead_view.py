"""The readable output of `scrapy dead`: of `list` one line for each letter, its URL last and whole, so that it can be
copied and searched for; a terminal that is narrow wraps it there and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from crawler.frontier.messages import DeadLetter

HEAD = ("id", "at (UTC)", "reason", "blocked by", "url or error")
BY = HEAD.index("blocked by")
GAP = "  "


def shown(letters: Sequence[DeadLetter], kind: str, total: int, evicted: int) -> Iterator[str]:
    """All lines: the letters of a *kind*, how many there are, and what to do next."""
    gone = kind == "gone"
    if letters:
        yield from listed(letters)
    else:
        yield "No page that is gone matches." if gone else "No dead letters match."
    kept = f"{len(letters)} shown of {total} kept"
    if gone:
        yield f"{kept}, the newest FRONTIER_GONE_LIMIT; they count as done"
    else:
        yield f"{kept}; {evicted} evicted for want of room (FRONTIER_DEAD_LIMIT)"
    if letters:
        yield f"more about one: `scrapy dead show {letters[0].id}{' --kind gone' if gone else ''}`"


def dropped(letters: Sequence[DeadLetter], done: int, limit: int) -> Iterator[str]:
    """What became of *letters*, of which *done* were dropped."""
    yield f"{done} dropped"
    if others := len(letters) - done:
        yield f"{others} were not dropped: somebody else was faster"
    yield from _limit(letters, limit)


def retried(letters: Sequence[DeadLetter], done: int, limit: int) -> Iterator[str]:
    """What became of *letters*, of which *done* were queued again."""
    yield f"{done} queued again"
    unreadable = sum(not letter.host for letter in letters)
    if unreadable:
        yield f"{unreadable} left as they are: a start URL that could not be read can only be dropped"
    if others := len(letters) - done - unreadable:
        yield f"{others} were not queued: somebody else was faster, or their run is cancelled"
    yield from _limit(letters, limit)


def _limit(letters: Sequence[DeadLetter], limit: int) -> Iterator[str]:
    if len(letters) == limit:
        yield f"that was the limit: --limit takes more than {limit}"


def listed(letters: Sequence[DeadLetter]) -> Iterator[str]:
    """A head and a line per letter; who blocked it, if one was. Host, worker, status and deliveries are for `show`."""
    rows = [HEAD, *map(_row, letters)]
    if not any(row[BY] for row in rows[1:]):
        rows = [row[:BY] + row[BY + 1 :] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for *cells, last in rows:
        yield GAP.join([*map(str.ljust, cells, widths), last])


def at(letter: DeadLetter) -> datetime:
    """When it died."""
    return datetime.fromtimestamp(letter.at_ms / 1000, UTC)


def _row(letter: DeadLetter) -> tuple[str, ...]:
    return (
        letter.id,
        f"{at(letter):%Y-%m-%d %H:%M:%S}",
        letter.reason,
        printable(_blocker(letter)),
        printable(_what(letter)),
    )


def _blocker(letter: DeadLetter) -> str:
    """The vendor of a block page, or what its page lacked: the error's first part (docs/blocks.md)."""
    return str(letter.detail.get("error") or "").partition(";")[0] if letter.reason == "blocked" else ""


def _what(letter: DeadLetter) -> str:
    return str(letter.detail.get("url") or letter.detail.get("error") or letter.body[:200])


def printable(text: str) -> str:
    """An error may hold line ends, or what steers a terminal."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
