"""One page as one gzipped WARC 1.1 record, and back. What Shoal needs beyond WARC is in `Shoal-...` headers, which
other readers ignore."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from io import BytesIO
from typing import IO, Any, Final
from uuid import UUID, uuid4

from warcio.statusandheaders import StatusAndHeaders
from warcio.timeutils import datetime_to_iso_date, iso_date_to_datetime
from warcio.warcwriter import WARCWriter

from crawler.storage.archive.members import ArchiveDamage, Member, members

VERSION: Final = "1.1"  # the first version with fractions of a second in dates
GZIP_LEVEL: Final = 6
# True of the wire format, not of the decoded body that is stored; browser-based archivers rename them too.
_WIRE_HEADERS: Final = frozenset({"content-encoding", "transfer-encoding", "content-length"})
_ORIGINAL: Final = "X-Archive-Orig-"
_HEADERS: Final = {
    "spider": "Shoal-Spider",
    "worker": "Shoal-Worker",
    "tier": "Shoal-Tier",
    "generation": "Shoal-Generation",
    "request_id": "Shoal-Request-Id",
}
_HEAD_MAX: Final = 2**20  # bytes of a record that are unpacked before its length is known
_BLANK: Final = b"\r\n\r\n"
_WARCINFO: Final = b"WARC-Type: warcinfo"


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Where a record is: a file's name, and the bytes of the record within it."""

    file: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Original:
    """The record that holds the body of a revisit record."""

    place: RecordPlace
    url: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page as the spider received it. *request* says how to call the spider again; it is opaque here."""

    url: str
    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes
    fetched_at: datetime
    ip: str = ""
    spider: str = ""
    worker: str = ""
    tier: str = ""
    generation: str = ""
    request_id: str = ""
    request: bytes = b""


@dataclass(frozen=True, slots=True)
class WarcRecord:
    """A page read back; a revisit has the body of its original."""

    id: str
    digest: str
    page: Page
    original: Original | None = None


def digest(body: bytes) -> str:
    """The payload digest in the form used for WARC deduplication."""
    return "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


def new_id() -> str:
    """An id for a record."""
    return str(uuid4())


def encode(record: WarcRecord) -> bytes:
    """The record as one gzip member; a revisit record if it has an original."""
    page, original = record.page, record.original
    builder = _Builder()
    common: dict[str, Any] = {
        "uri": page.url,
        "http_headers": _http_headers(page),
        "warc_headers_dict": _warc_headers(record),
    }
    if original is None:
        made = builder.writer.create_warc_record(
            record_type="response", payload=BytesIO(page.body), length=len(page.body), **common
        )
    else:
        made = builder.writer.create_revisit_record(
            digest=record.digest, refers_to_uri=original.url, refers_to_date=_date(original.at), **common
        )
    return builder.gzipped(made)


def heading(name: str, software: str) -> bytes:
    """The warcinfo record with which a file begins."""
    builder = _Builder()
    info = {"software": software, "format": f"WARC File Format {VERSION}", "description": "pages as spiders saw them"}
    return builder.gzipped(builder.writer.create_warcinfo_record(name, info))


def decode(data: bytes) -> WarcRecord:
    """The record in *data*, one gzip member made by `encode`; raises ValueError for anything else."""
    unpacking = zlib.decompressobj(wbits=31)
    try:
        content = unpacking.decompress(data, _HEAD_MAX)
        if not unpacking.eof:
            content += unpacking.decompress(unpacking.unconsumed_tail, _missing(content))
    except (zlib.error, LookupError, ValueError, OverflowError) as error:
        raise ValueError(f"not a WARC record of a page: {error}") from None
    if not unpacking.eof:
        raise ValueError("not a WARC record of a page: it is longer than it says, or cut off")
    return _unpacked(content)


def scan(stream: IO[bytes]) -> Iterator[tuple[WarcRecord, tuple[int, int]] | ArchiveDamage]:
    """Each page of a WARC file of ours with offset and length of its record, and the bytes that should have been
    one."""
    for found in members(stream):
        if isinstance(found, ArchiveDamage):
            yield found
        elif _WARCINFO not in found.content.partition(_BLANK)[0]:
            try:
                yield _unpacked(found.content), (found.offset, found.length)
            except ValueError:
                yield ArchiveDamage(found.offset, found.length)


def whole_length(stream: IO[bytes]) -> int:
    """Bytes up to the end of the last whole member, damage before it included."""
    found = (each.offset + each.length for each in members(stream) if isinstance(each, Member))
    return max(found, default=0)


def _unpacked(content: bytes) -> WarcRecord:
    try:
        head, _, block = content.partition(_BLANK)
        headers = dict(_fields(head))
        http, _, body = block[: int(headers["Content-Length"])].partition(_BLANK)
        return _record(headers, int(http.split(None, 2)[1]), _fields(http), body)
    except (LookupError, ValueError, ArithmeticError) as error:
        raise ValueError(f"not a WARC record of a page: {error}") from None


def _missing(start: bytes) -> int:
    """How much of the record that begins so is still packed, by its own word: a few bytes can unpack to any size."""
    head, _, block = start.partition(_BLANK)
    return max(1, int(dict(_fields(head))["Content-Length"]) - len(block) + 2 * len(_BLANK))


class _Builder:
    def __init__(self) -> None:
        self._buffer = BytesIO()
        self.writer = WARCWriter(self._buffer, gzip=False, warc_version=VERSION)

    def gzipped(self, record: Any) -> bytes:
        """warcio compresses at level 9, which takes twice as long to save 1 %."""
        self.writer.write_record(record)
        return zlib.compress(self._buffer.getvalue(), GZIP_LEVEL, wbits=31)


def _http_headers(page: Page) -> StatusAndHeaders:
    named = [(name.encode("ascii", "backslashreplace").decode(), value) for name, value in page.headers]
    kept = [(_ORIGINAL + name if name.lower() in _WIRE_HEADERS else name, value) for name, value in named]
    kept.append(("Content-Length", str(len(page.body))))
    phrase = HTTPStatus(page.status).phrase if page.status in HTTPStatus._value2member_map_ else ""
    return StatusAndHeaders(f"{page.status} {phrase}".rstrip(), kept, protocol="HTTP/1.1")


def _warc_headers(record: WarcRecord) -> dict[str, str]:
    page = record.page
    headers = {
        "WARC-Record-ID": f"<urn:uuid:{record.id}>",
        "WARC-Date": _date(page.fetched_at),
        "WARC-IP-Address": page.ip,
        **{header: getattr(page, name) for name, header in _HEADERS.items()},
        "Shoal-Request": base64.b64encode(page.request).decode(),
    }
    if record.original is None:
        headers["WARC-Payload-Digest"] = record.digest
    else:
        place = record.original.place
        headers["Shoal-Original"] = f"{place.file} {place.offset} {place.length}"
    return {name: value for name, value in headers.items() if value}


def _fields(head: bytes) -> list[tuple[str, str]]:
    """Names and values of the header lines."""
    lines = head.decode().split("\r\n")[1:]
    pairs = (line.partition(":") for line in lines if line)
    return [(name, value.strip()) for name, _, value in pairs]


def _record(headers: Mapping[str, str], status: int, fields: Sequence[tuple[str, str]], body: bytes) -> WarcRecord:
    original = None
    if place := headers.get("Shoal-Original"):
        file, offset, length = place.split(" ")
        to = _time(headers["WARC-Refers-To-Date"])
        original = Original(RecordPlace(file, int(offset), int(length)), headers["WARC-Refers-To-Target-URI"], to)
    page = Page(
        url=headers["WARC-Target-URI"],
        status=status,
        headers=[(name, value) for name, value in fields if not name.startswith(_ORIGINAL)],
        body=body,
        fetched_at=_time(headers["WARC-Date"]),
        ip=headers.get("WARC-IP-Address", ""),
        request=base64.b64decode(headers.get("Shoal-Request", "")),
        **{name: headers.get(header, "") for name, header in _HEADERS.items()},
    )
    identifier = str(UUID(headers["WARC-Record-ID"].strip("<>").removeprefix("urn:uuid:")))
    return WarcRecord(identifier, headers["WARC-Payload-Digest"], page, original)


def _time(text: str) -> datetime:
    moment: datetime = iso_date_to_datetime(text, tz_aware=True)
    return moment


def _date(moment: datetime) -> str:
    text: str = datetime_to_iso_date(moment.astimezone(UTC).replace(tzinfo=None), use_micros=True)
    return text
