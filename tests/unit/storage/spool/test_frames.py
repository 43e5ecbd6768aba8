"""A spool file gives back what was appended, up to wherever a crash or a bad disk cut it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.storage.spool.appending import Appender
from crawler.storage.spool.frames import HEAD, BrokenFileError, frame, read

PAYLOADS = st.lists(st.binary(max_size=40), max_size=6)


def whole(path: Path) -> tuple[list[bytes], BrokenFileError | None]:
    found: list[bytes] = []
    reader = read(path)
    try:
        while (payload := next(reader, None)) is not None:
            found.append(payload)
    except BrokenFileError as error:
        return found, error
    return found, None


@given(payloads=PAYLOADS, data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_cut_anywhere_loses_only_the_append_that_was_cut(
    payloads: list[bytes], data: st.DataObject, tmp_path: Path
) -> None:
    path = tmp_path / "one"
    whole_file = HEAD + b"".join(map(frame, payloads))
    cut = data.draw(st.integers(0, len(whole_file)))
    path.write_bytes(whole_file[:cut])
    found, error = whole(path)
    ends = [len(HEAD) + sum(len(frame(one)) for one in payloads[:n]) for n in range(len(payloads) + 1)]
    assert found == payloads[: sum(end <= cut for end in ends[1:])]
    assert (error is None) == (cut in ends)
    assert error is None or error.torn


@given(payloads=st.lists(st.binary(min_size=1, max_size=40), min_size=2, max_size=6), data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_byte_is_never_read_as_data(payloads: list[bytes], data: st.DataObject, tmp_path: Path) -> None:
    path = tmp_path / "one"
    content = bytearray(HEAD + b"".join(map(frame, payloads)))
    at = data.draw(st.integers(len(HEAD), len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    found, error = whole(path)
    assert error is not None
    assert found == payloads[: len(found)]
    assert len(found) < len(payloads)


def test_damage_before_the_end_is_not_called_torn(tmp_path: Path) -> None:
    path = tmp_path / "one"
    content = bytearray(HEAD + frame(b"first") + frame(b"second"))
    content[len(HEAD) + 9] ^= 1
    path.write_bytes(content)
    assert whole(path)[1] is not None
    with pytest.raises(BrokenFileError, match="damaged data from byte 14 on") as error:
        list(read(path))
    assert not error.value.torn


def test_a_file_of_another_kind_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "one"
    path.write_bytes(b"something else")
    with pytest.raises(BrokenFileError) as error:
        list(read(path))
    assert not error.value.torn


def test_what_was_appended_is_read(tmp_path: Path) -> None:
    appender = Appender(tmp_path / "one")
    for payload in (b"a", b"", b"b" * 100_000):
        appender.append(payload)
    assert appender.size == appender.path.stat().st_size
    appender.close()
    assert list(read(appender.path)) == [b"a", b"", b"b" * 100_000]
    with pytest.raises(FileExistsError):
        Appender(tmp_path / "one")
