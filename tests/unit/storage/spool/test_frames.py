"""Every intact frame of a spool file is read, whatever happened to the rest."""

from __future__ import annotations

import struct
import zlib
from itertools import takewhile
from pathlib import Path

import bson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.storage.spool.frames import HEAD, Gap, frame, read
from crawler.storage.synced_file import SyncedFile

OLD_HEAD = b"shoal spool 1\n"


def old_frame(payload: bytes) -> bytes:
    return struct.pack(">II", len(payload), zlib.crc32(payload)) + payload


def payload(*texts: str) -> bytes:
    return b"".join(bson.encode({"collection": "products", "id": text}) for text in texts)


FORMS = {"new": (HEAD, frame), "old": (OLD_HEAD, old_frame)}
TEXTS = st.lists(st.text(max_size=9), min_size=1, max_size=3)
PAYLOADS = st.lists(TEXTS.map(lambda texts: payload(*texts)), max_size=6, unique=True)


def parts(data: bytes) -> tuple[list[bytes], list[Gap]]:
    found = list(read(data))
    return [one for one in found if isinstance(one, bytes)], [one for one in found if isinstance(one, Gap)]


def built(form: str, payloads: list[bytes]) -> tuple[bytes, list[tuple[int, int]]]:
    head, make = FORMS[form]
    data, spans = head, []
    for one in payloads:
        spans.append((len(data), len(data) + len(make(one))))
        data += make(one)
    return data, spans


@pytest.mark.parametrize("form", FORMS)
@given(payloads=PAYLOADS, data=st.data())
def test_a_file_cut_anywhere_loses_only_the_append_that_was_cut(
    form: str, payloads: list[bytes], data: st.DataObject
) -> None:
    whole, spans = built(form, payloads)
    cut = data.draw(st.integers(0, len(whole)))
    found, gaps = parts(whole[:cut])
    assert found == payloads[: sum(end <= cut for _, end in spans)]
    if cut >= len(HEAD) or form == "new":
        assert all(gap.torn for gap in gaps)
    assert bool(gaps) == (cut not in {len(HEAD), *(end for _, end in spans)})


def flip(whole: bytes, at: int, by: int) -> bytes:
    return whole[:at] + bytes([whole[at] ^ (by % 255 + 1)]) + whole[at + 1 :]


def zero(whole: bytes, at: int, by: int) -> bytes:
    return whole[:at] + bytes(min(by, len(whole) - at)) + whole[at + by :]


def insert(whole: bytes, at: int, by: int) -> bytes:
    return whole[:at] + bytes(range(256))[: by % 255 + 1] + whole[at:]


def remove(whole: bytes, at: int, by: int) -> bytes:
    return whole[:at] + whole[at + by :]


def alike(one: bytes, other: bytes) -> int:
    """Length of the common prefix."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


@pytest.mark.parametrize("form", FORMS)
@given(payloads=PAYLOADS.filter(bool), damage=st.sampled_from([flip, zero, insert, remove]), data=st.data())
def test_whatever_is_done_to_some_bytes_the_other_frames_are_read(
    form: str, payloads: list[bytes], damage: object, data: st.DataObject
) -> None:
    assert callable(damage)
    whole, spans = built(form, payloads)
    at, by = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(1, 60))
    changed = damage(whole, at, by)
    hit = at + 1 if damage is flip else at if damage is insert else at + by
    # The same bytes may come of damage elsewhere: a zero less here, or a zero less in the frame that follows.
    at = min(at, len(whole) - alike(whole[::-1], changed[::-1]))
    hit = max(hit, alike(whole, changed))
    safe = [one for one, (start, end) in zip(payloads, spans, strict=True) if end <= at or start >= hit]
    found, gaps = parts(changed)
    assert set(safe) <= set(found)
    assert found == [one for one in payloads if one in found]
    if changed != whole and len(found) < len(payloads):
        assert gaps or damage is remove  # frames cut out whole leave nothing to see
        assert damage is not flip or not any(gap.torn for gap in gaps)  # what was safe once is not reported as torn


@pytest.mark.parametrize("form", FORMS)
def test_one_bit_of_a_length_costs_its_frame_alone(form: str) -> None:
    payloads = [payload(f"item {n}") for n in range(40)]
    whole, spans = built(form, payloads)
    at = spans[3][0] + (4 if form == "new" else 0)
    for bit in range(32):
        changed = bytearray(whole)
        changed[at + bit // 8] ^= 1 << bit % 8
        found, gaps = parts(bytes(changed))
        assert found == payloads[:3] + payloads[4:]
        assert gaps == [Gap(spans[3][0], spans[3][1] - spans[3][0], torn=False)]


@pytest.mark.parametrize("form", FORMS)
def test_a_zeroed_header_costs_its_frame_alone_wherever_it_is(form: str) -> None:
    payloads = [payload(f"item {n}") for n in range(5)]
    whole, spans = built(form, payloads)
    size = 16 if form == "new" else 8
    for n, (start, end) in enumerate(spans):
        found, gaps = parts(whole[:start] + bytes(size) + whole[start + size :])
        assert found == payloads[:n] + payloads[n + 1 :]
        assert gaps == [Gap(start, end - start, torn=False)]


@pytest.mark.parametrize("form", FORMS)
def test_a_damaged_head_of_the_file_costs_no_frame(form: str) -> None:
    payloads = [payload("a"), payload("b")]
    whole, _ = built(form, payloads)
    for changed in (bytes(len(HEAD)) + whole[len(HEAD) :], b"x" + whole):
        assert parts(changed)[0] == payloads
        assert not parts(changed)[1][0].torn
    assert parts(whole[len(HEAD) :])[0] == payloads


def test_bytes_of_a_page_within_a_broken_frame_are_no_frame() -> None:
    """Else a page could write what it likes into any collection, where a disk loses a bit."""
    forged = frame(payload("forged"))
    outer = bson.encode({"collection": "products", "id": "x", "body": forged})
    broken = bytearray(frame(outer))
    broken[-1] ^= 1
    assert parts(HEAD + bytes(broken) + frame(payload("next")))[0] == [payload("next")]
    assert parts(HEAD + bytes(broken))[0] == []


def test_zeros_behind_the_last_frame_are_an_append_that_never_came() -> None:
    assert parts(HEAD + frame(payload("a")) + bytes(5_000)) == ([payload("a")], [Gap(70, 5_000, torn=True)])


def test_a_file_of_another_kind_is_not_called_torn() -> None:
    assert list(read(b"something else")) == [Gap(0, 14, torn=False)]
    assert list(read(b"")) == [Gap(0, 0, torn=True)]


def test_what_was_appended_is_read(tmp_path: Path) -> None:
    file = SyncedFile.new(tmp_path / "one", HEAD, 0o600)
    for one in (b"a", b"", b"b" * 100_000):
        file.write(frame(one))
    assert file.size == file.path.stat().st_size
    file.close()
    assert list(read(file.path.read_bytes())) == [b"a", b"", b"b" * 100_000]
    with pytest.raises(FileExistsError):
        SyncedFile.new(tmp_path / "one", HEAD, 0o600)
