"""WARC records: everything comes back, other tools can read them, torn files give what is whole."""

from __future__ import annotations

import gzip
import random
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from crawler.storage.archive import members
from crawler.storage.archive.members import ArchiveDamage
from crawler.storage.archive.records import (
    Original,
    Page,
    RecordPlace,
    WarcRecord,
    decode,
    digest,
    encode,
    heading,
    new_id,
    scan,
    whole_length,
)

AT = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=12).map(lambda name: f"x-{name}")
VALUES = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30)


def page(body: bytes = b"<p>a page</p>", **fields: object) -> Page:
    values = {"url": "http://shop.example/p/1", "status": 200, "headers": [("Content-Type", "text/html")]}
    return Page(**(values | {"body": body, "fetched_at": AT} | fields))  # type: ignore[arg-type]


def record(body: bytes = b"<p>a page</p>", **fields: object) -> WarcRecord:
    return WarcRecord(new_id(), digest(body), page(body, **fields))


def read(data: bytes) -> list[tuple[WarcRecord, tuple[int, int]]]:
    """The pages of a file."""
    return [one for one in scan(BytesIO(data)) if not isinstance(one, ArchiveDamage)]


@given(
    st.binary(max_size=3_000),
    st.lists(st.tuples(NAMES, VALUES), max_size=5),
    st.integers(100, 999),
    st.binary(max_size=60),
    st.integers(0, 4 * 10**15).map(lambda us: datetime.fromtimestamp(0, UTC) + timedelta(microseconds=us)),
)
def test_what_was_encoded_is_decoded(
    body: bytes, headers: list[tuple[str, str]], status: int, how: bytes, at: datetime
) -> None:
    made = record(body, headers=headers, status=status, request=how, fetched_at=at, worker="w-1", request_id="0:7")
    found = decode(encode(made))
    assert [found] == [one for one, _ in read(encode(made))]
    assert (found.id, found.digest) == (made.id, made.digest)
    assert found.page == page(
        body,
        headers=[*headers, ("Content-Length", str(len(body)))],
        status=status,
        request=how,
        fetched_at=at,
        worker="w-1",
        request_id="0:7",
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no gzip",
        encode(record())[:-20],
        gzip.compress(b"WARC/1.1\r\n\r\n"),
        gzip.compress(b"WARC/1.1\r\nContent-Length: 7\r\n\r\nHTTP/1.1"),
        heading("a.warc.gz", "Shoal"),
    ],
    ids=["empty", "no gzip", "cut", "no headers", "no answer", "another record"],  # packed bytes hold the time
)
def test_what_is_no_page_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a WARC record of a page"):
        decode(data)


def test_a_few_bytes_are_not_unpacked_to_gigabytes() -> None:
    head, _, rest = gzip.decompress(encode(record(b"x"))).partition(b"\r\n\r\n")
    zeros = bytes(2**24)
    tracemalloc.start()
    for bomb in (zeros, head + b"\r\n\r\n" + rest + zeros):
        with pytest.raises(ValueError, match="not a WARC record"):
            decode(gzip.compress(bomb))
    assert tracemalloc.get_traced_memory()[1] < 1.5 * len(zeros)  # the second bomb is ours
    tracemalloc.stop()


@pytest.mark.parametrize("size", [2**20 - 600, 2**20 - 300, 2**20, 3 * 2**20])
def test_a_large_page_comes_back(size: int) -> None:
    body = random.Random(size).randbytes(size)
    assert decode(encode(record(body))).page.body == body


def test_a_header_with_a_name_of_its_own_is_kept() -> None:
    found = decode(encode(record(headers=[("X-\xe9", "a"), ("B", "b")]))).page.headers
    assert found[:2] == [("X-\\xe9", "a"), ("B", "b")]


def test_headers_of_the_wire_do_not_describe_the_stored_body() -> None:
    wire = [("Content-Encoding", "br"), ("Transfer-Encoding", "chunked"), ("Content-Length", "5"), ("ETag", "x")]
    data = gzip.decompress(encode(record(headers=wire)))
    assert b"X-Archive-Orig-Content-Encoding: br" in data
    assert decode(encode(record(headers=wire))).page.headers == [("ETag", "x"), ("Content-Length", "13")]


def test_a_revisit_names_its_original_and_has_no_body() -> None:
    original = Original(RecordPlace("a.warc.gz", 17, 400), "http://shop.example/", AT)
    found = decode(encode(WarcRecord(new_id(), digest(b"x" * 9_000), page(b"x" * 9_000), original)))
    assert found.original == original
    assert found.page.body == b""
    assert found.digest == digest(b"x" * 9_000)
    assert found.page.status == 200


def test_other_tools_read_and_verify_a_file() -> None:
    data = heading("a.warc.gz", "Shoal") + encode(record()) + encode(record(b"another"))
    found = [
        (each.rec_type, each.rec_headers.get_header("WARC-Target-URI"), each.content_stream().read())
        for each in ArchiveIterator(BytesIO(data), check_digests="raise")
    ]
    assert [kind for kind, _, _ in found] == ["warcinfo", "response", "response"]
    assert found[1][1:] == ("http://shop.example/p/1", b"<p>a page</p>")


PARTS = [heading("a.warc.gz", "Shoal"), *(encode(record(b"%d" % n * 50)) for n in range(3))]


@given(st.data())
def test_a_file_cut_anywhere_keeps_its_whole_records(data: st.DataObject) -> None:
    ends = [sum(map(len, PARTS[: n + 1])) for n in range(len(PARTS))]
    cut = data.draw(st.integers(0, ends[-1]))
    torn = b"".join(PARTS)[:cut]
    whole = max([end for end in ends if end <= cut], default=0)
    assert whole_length(BytesIO(torn)) == whole
    assert whole_length(BytesIO(torn[:whole] + b"\0" * 100)) == whole
    spans = [span for _, span in read(torn[:whole])]
    assert spans == [(end, len(part)) for end, part in zip(ends, PARTS[1:], strict=False) if end + len(part) <= cut]


def flip(whole: bytes, at: int) -> bytes:
    return whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]


def zero(whole: bytes, at: int) -> bytes:
    return whole[:at] + bytes(min(40, len(whole) - at)) + whole[at + 40 :]


def insert(whole: bytes, at: int) -> bytes:
    return whole[:at] + b"\x1f\x8b\x08?" + whole[at:]


def remove(whole: bytes, at: int) -> bytes:
    return whole[:at] + whole[at + 40 :]


@given(st.sampled_from([flip, zero, insert, remove]), st.data())
def test_whatever_is_done_to_some_bytes_the_other_records_are_read(
    damage: Callable[..., bytes], data: st.DataObject
) -> None:
    whole = b"".join(PARTS)
    ends = [sum(map(len, PARTS[: n + 1])) for n in range(len(PARTS))]
    at = data.draw(st.integers(0, len(whole) - 1))
    hit = at + {flip: 1, zero: 40, insert: 0, remove: 40}[damage]
    changed = damage(whole, at)
    safe = {
        decode(part).id for end, part in zip(ends[1:], PARTS[1:], strict=True) if end <= at or end - len(part) >= hit
    }
    found = {record.id for record, _ in read(changed)}
    assert found >= safe
    for record, (offset, length) in read(changed):
        assert decode(changed[offset : offset + length]) == record
    if len(found) < len(PARTS) - 1 and damage is not remove:
        assert any(isinstance(one, ArchiveDamage) for one in scan(BytesIO(changed)))
    torn_at = max((offset + length for _, (offset, length) in read(changed)), default=0)
    assert whole_length(BytesIO(changed)) >= torn_at


def test_a_record_with_a_bad_header_is_named_and_the_others_are_read() -> None:
    plain = gzip.decompress(PARTS[1])
    for bad in (
        plain.replace(b"WARC-Date: 2026", b"WARC-Date: when"),
        plain.replace(b"WARC-Record-ID: <urn", b"WARC-Record-ID: <???"),
        plain.replace(b"WARC-Target-URI", b"WARC-Elsewhere"),
        plain.replace(b"HTTP/1.1 200", b"HTTP/1.1 ???"),
        plain.replace(b"Content-Length: ", b"Content-Length: many ", 1),
        b"WARC/1.1\r\n\xff: \r\n\r\n",
        b"",
    ):
        member = gzip.compress(bad)
        damage, (record, _) = scan(BytesIO(member + PARTS[2]))
        assert damage == ArchiveDamage(0, len(member))
        assert isinstance(record, WarcRecord)
        assert record.id == decode(PARTS[2]).id


def test_bits_that_stand_for_gigabytes_are_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "_CONTENT_MAX", 100_000)
    bomb = gzip.compress(bytes(10_000_000))
    assert [type(one) for one in scan(BytesIO(bomb + PARTS[1]))] == [ArchiveDamage, tuple]


def test_a_bomb_that_never_ends_is_left_at_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "_CONTENT_MAX", 100_000)
    monkeypatch.setattr(members, "_CHUNK", 100)
    bomb = gzip.compress(bytes(10_000_000))
    tracemalloc.start()
    assert [type(one) for one in scan(BytesIO(bomb))] == [ArchiveDamage]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
