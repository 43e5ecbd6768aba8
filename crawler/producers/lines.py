"""The lines of sources, in chunks that know each line's place: text lines, or one column of CSV."""

from __future__ import annotations

import asyncio
import codecs
import csv
import io
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from threading import Event
from typing import Final, NamedTuple

from crawler.errors import shown
from crawler.producers import sources
from crawler.routing.push_schema import MAX_LINE

ARGUMENT: Final = "argument"
CSV_ROWS: Final = 1_000  # per chunk
DELIMITERS: Final = ",;\t|"
_METADATA: Final = "//169.254.169.254"  # a cloud's own service: the last place that is asked for credentials
_HEAD: Final = 512  # bytes that tell text from what is none
_SHOWN: Final = 60  # characters shown of a line that is too long


class Refusal(NamedTuple):
    """Why something cannot be pushed; *number* 0: the whole source or the rest of it, as *reason* says."""

    source: str
    number: int
    reason: str
    text: str = ""

    def __str__(self) -> str:
        if self.source == ARGUMENT:
            return f"{self.source}: {self.reason}"
        return f"{self.source}:{self.number}: {self.reason}" if self.number else self.reason


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some lines of a source in order, including blank ones; none if nothing has arrived for a while. *read*: bytes
    read since the last chunk. *is_cut*: the rest of the source cannot be read."""

    source: str
    numbers: Sequence[int] = ()
    lines: Sequence[str] = ()
    refused: Sequence[Refusal] = ()
    read: int = 0
    is_cut: bool = False

    def place(self, at: int) -> str:
        """Where its line *at* is, for a person."""
        return f"{self.source}{' ' if self.source == ARGUMENT else ':'}{self.numbers[at]}"


def chunks(given: Sequence[str], column: str, stop: Event) -> Iterator[Chunk]:
    """The chunks of everything *given*: URLs and messages, and the content of files and objects. With a *column* these
    are CSV. Stops when *stop* is set."""
    numbers = count(1)
    for source in given:
        if sources.is_url(source):
            yield Chunk(ARGUMENT, (next(numbers),), (source,))
        else:
            yield from _Reading(source, column, stop).chunks()


async def chunks_apart(given: Sequence[str], column: str) -> AsyncGenerator[Chunk]:
    """As `chunks`, read in a thread that is stopped when iteration ends."""
    stop = Event()
    read = chunks(given, column, stop)
    try:
        while (chunk := await asyncio.to_thread(next, read, None)) is not None:
            yield chunk
    finally:
        stop.set()


class _Reading:
    """Reads one source; the error, if any, is in its last chunk."""

    def __init__(self, source: str, column: str, stop: Event) -> None:
        self._source = source
        self._name = sources.shown(source)
        self._column = column
        self._stop = stop
        self._number = 0  # number of the last line
        self._refused: list[Refusal] = []
        self._position = 0

    def chunks(self) -> Iterator[Chunk]:
        try:
            self._raw = sources.opened(self._source, self._stop)
        except sources.ERRORS as error:
            yield Chunk(self._name, refused=[Refusal(self._name, 0, _unreadable(self._source, error))])
            return
        is_cut = False
        try:
            yield from self._csv() if self._column else self._plain()
        except (csv.Error, *sources.ERRORS) as error:  # of CSV: its first line is longer than the reader takes
            is_cut = self._number > 0
            self._refuse(0, _unreadable(self._source, error, self._number))
        finally:
            self._raw.close()
        yield replace(self._chunk((), ()), is_cut=is_cut)

    def _plain(self) -> Iterator[Chunk]:
        for lines in self._lines():
            yield self._chunk(range(self._number - len(lines) + 1, self._number + 1), lines)

    def _chunk(self, numbers: Sequence[int], lines: Sequence[str]) -> Chunk:
        refused, self._refused = self._refused, []
        read, self._position = self._raw.position - self._position, self._raw.position
        return Chunk(self._name, numbers, lines, refused, read)

    def _refuse(self, number: int, reason: str, text: str = "") -> None:
        self._refused.append(Refusal(self._name, number, reason, text))

    def _lines(self) -> Iterator[list[str]]:
        """Complete lines, as many as a block has; none while nothing arrives."""
        rest, cut = "", 0  # start of the current line, and how much of it is dropped as too long
        for text in _texts(sources.blocks(self._raw)):
            lines = text.split("\n")
            lines[0] = rest + lines[0]
            rest = lines.pop()
            if cut and lines:
                cut = self._too_long(lines, cut)
            self._number += len(lines)
            yield lines
            if len(rest) > MAX_LINE:
                cut += len(rest) - _SHOWN
                rest = rest[:_SHOWN]
        if rest:
            last = [rest]
            if cut:
                self._too_long(last, cut)
            self._number += 1
            yield last

    def _too_long(self, lines: list[str], cut: int) -> int:
        """Refuse the first of *lines*, of which *cut* characters are dropped; leaves a blank line in its place."""
        length = len(lines[0]) + cut
        reason = f"line has {length} characters, more than the {MAX_LINE} allowed: {lines[0][:_SHOWN]}..."
        self._refuse(self._number + 1, reason, lines[0][:_SHOWN])
        lines[0] = ""
        return 0

    def _csv(self) -> Iterator[Chunk]:
        physical = self._physical()
        head = next((line for line in physical if line.strip()), "")
        dialect, column, is_header = _column(head, self._column)
        if column is None:
            self._refuse(0, f"{self._name!r} has no column {self._column!r}: its first line is {head.strip()[:200]!r}")
            return
        rows = csv.reader(_chained(() if is_header else (head,), physical), delimiter=dialect, strict=True)
        numbers: list[int] = []
        cells: list[str] = []
        first = self._number + is_header
        while (row := self._row(rows, first)) is not None:
            if len(row) > column:
                numbers.append(first)
                cells.append(row[column])
            elif row:
                self._refuse(
                    first, f"row has {len(row)} columns, none for {self._column!r}", dialect.join(row)[:MAX_LINE]
                )
            first = self._number + 1
            if len(cells) >= CSV_ROWS:
                yield self._chunk(numbers, cells)
                numbers, cells = [], []
        yield self._chunk(numbers, cells)

    def _row(self, rows: Iterator[list[str]], first: int) -> list[str] | None:
        """The next row, which starts on line *first*; empty if it is invalid, None at the end."""
        try:
            return next(rows, None)
        except csv.Error as error:
            lines = f"lines {first} to {self._number}" if self._number > first else "row"
            self._refuse(first, f"{lines} cannot be read as CSV ({error})")
            return []

    def _physical(self) -> Iterator[str]:
        """Single lines for the CSV reader, keeping count of their number."""
        for lines in self._lines():
            last = self._number
            for self._number, line in enumerate(lines, last - len(lines) + 1):
                yield line + "\n"
            self._number = last


def _chained(first: Sequence[str], rest: Iterator[str]) -> Iterator[str]:
    yield from first
    yield from rest


def _column(head: str, column: str) -> tuple[str, int | None, bool]:
    """The delimiter, the index of *column* (a name in the first line, or a number from 1 on), and whether the first
    line is a header."""
    rows = {delimiter: next(csv.reader([head], delimiter=delimiter), []) for delimiter in DELIMITERS}
    for delimiter, row in rows.items():
        names = [name.strip().casefold() for name in row]
        if column.strip().casefold() in names:
            return delimiter, names.index(column.strip().casefold()), True
    delimiter = max(rows, key=lambda one: len(rows[one]))
    row = rows[delimiter]
    if column.isdecimal() and 1 <= int(column) <= len(row):
        return delimiter, int(column) - 1, "://" not in row[int(column) - 1]
    return delimiter, None, False


def _texts(blocks: Iterator[bytes | None]) -> Iterator[str]:
    """*blocks* as text with uniform line ends; undecodable bytes become surrogates, for which only their own line is
    refused."""
    decoder: io.IncrementalNewlineDecoder | None = None
    for block in blocks:
        if block is None:
            yield ""
            continue
        if decoder is None:
            decoder = _decoder(block)
        yield decoder.decode(block)
    if decoder is not None:
        yield decoder.decode(b"", final=True)


def _decoder(first: bytes) -> io.IncrementalNewlineDecoder:
    """For a source that begins with *first*; raises ValueError for what is no text, each line of which would be
    refused."""
    wide = first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # Excel's "Unicode text"
    head = first[:_HEAD]
    if not wide and b"\0" in head and b"://" not in head:
        raise ValueError("no text: expected UTF-8, or UTF-16 with a byte order mark; save a spreadsheet as CSV")
    name, errors = ("utf-16", "replace") if wide else ("utf-8-sig", "surrogateescape")
    return io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(name)(errors), translate=True)


def _unreadable(source: str, error: BaseException, after: int = 0) -> str:
    words = str(getattr(error, "strerror", None) or error) or type(error).__name__
    name, reason = shown(sources.shown(source)), words.splitlines()[0][:200]
    if source.startswith(sources.REMOTE) and _METADATA in words:
        reason = "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role"
    if after:
        return f"{name} cannot be read after line {after} ({reason})"
    if source == sources.STDIN or source.startswith(sources.REMOTE):
        return f"{name} cannot be read ({reason})"
    return f"{name} is neither a URL with http:// or https:// nor a file that can be read ({reason})"
