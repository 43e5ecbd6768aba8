"""What `scrapy push` reads, whatever it is written in."""

from __future__ import annotations

import gzip
import os
import resource
from collections.abc import Sequence
from pathlib import Path
from random import Random
from threading import Event, Thread

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from crawler.producers import sources
from crawler.producers.lines import Chunk, chunks
from crawler.routing.push_schema import MAX_LINE

URL = "https://shop.example/"


def read(*given: str | Path, column: str = "") -> tuple[list[tuple[str, str]], list[str]]:
    """Every line that is not blank with its place, and what was refused."""
    found = list(chunks([str(one) for one in given], column, Event()))
    lines = [(f"{one.source}:{number}", line) for one in found for number, line in numbered(one) if line.strip()]
    return lines, [str(refusal) for one in found for refusal in one.refused]


def test_what_s3_needs_is_said_where_it_finds_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(source: str, _stop: Event) -> None:
        raise OSError(f"Generic S3 error: Error performing PUT http://169.254.169.254/latest/api/token for {source}")

    monkeypatch.setattr(sources, "opened", opened)
    [refused] = read("s3://bucket/urls.txt")[1]
    assert refused.endswith(
        "s3://bucket/urls.txt' cannot be read (no credentials: set AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY, or give this machine a role)"
    )


def numbered(chunk: Chunk) -> Sequence[tuple[int, str]]:
    return list(zip(chunk.numbers, chunk.lines, strict=True))


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_more_files_than_a_process_may_have_open(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = min(256, soft)
    names = [str(written(tmp_path / f"{number}.txt", b"https://shop.example/\n\n")) for number in range(few + 10)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
    try:
        lines, refused = read(*names)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (lines, refused) == ([(f"{name}:1", URL) for name in names], [])


def test_a_source_that_cannot_be_read_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    good = written(tmp_path / "good.txt", "\ufeffhttps://shop.example/".encode())
    raw = written(tmp_path / "bytes.txt", b"https://shop.example/caf\xe9\nhttps://shop.example/b\n")
    lines, refused = read(tmp_path, "good.tx", f"{URL}a", good, "a\0b", raw)
    assert [line for _, line in lines] == [f"{URL}a", URL, f"{URL}caf\udce9", f"{URL}b"]
    assert len(refused) == 3
    assert refused[1] == (
        "'good.tx' is neither a URL with http:// or https:// nor a file that can be read (No such file or directory)"
    )


@pytest.mark.parametrize(
    "head", [b"PK\x03\x04\x14\0\x06\0\n", "https://a.example/\n".encode("utf-16-le"), b"\x89PNG\r\n\x1a\n\0"]
)
@pytest.mark.parametrize("column", ["", "url"])
def test_what_is_no_text_is_refused_whole_and_not_by_the_line(tmp_path: Path, head: bytes, column: str) -> None:
    path = written(tmp_path / "urls.xlsx", head + b"\xff\xfe\n" * 40)
    lines, refused = read(path, f"{URL}a", column=column)
    assert ([line for _, line in lines], len(refused)) == ([f"{URL}a"], 1)
    assert "urls.xlsx' is neither a URL" in refused[0]
    assert "(no text: expected UTF-8, or UTF-16 with a byte order mark; save a spreadsheet as CSV)" in refused[0]


def test_a_line_with_a_nul_costs_only_itself(tmp_path: Path) -> None:
    path = written(tmp_path / "urls.txt", f"{URL}\0\n{URL}b\n".encode())
    assert [line for _, line in read(path)[0]] == [f"{URL}\0", f"{URL}b"]


def test_a_long_argument_is_not_repeated_whole() -> None:
    [reason] = read("x" * 10_000)[1]
    assert "xxx...xxx" in reason
    assert "xxx' (10002 characters) is neither a URL" in reason
    assert len(reason) < 500


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_line_ends_and_byte_order_marks_are_no_part_of_a_line(tmp_path: Path, end: str, encoding: str) -> None:
    path = written(tmp_path / "urls.txt", end.join([URL, "", f"{URL}é", f"{URL}b"]).encode(encoding))
    assert read(path) == ([(f"{path}:1", URL), (f"{path}:3", f"{URL}é"), (f"{path}:4", f"{URL}b")], [])


@given(st.lists(st.text("a\té\u2028\x0b\x0c\x85 ", max_size=30), max_size=40), st.integers(5, 80))
def test_blocks_of_any_size_give_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], block: int
) -> None:
    path = written(tmp_path_factory.getbasetemp() / "blocks.txt", "\n".join(texts).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "BLOCK", block)
        assert read(path)[0] == [(f"{path}:{at}", text) for at, text in enumerate(texts, 1) if text.strip()]


@pytest.mark.parametrize(
    "pack", [gzip.compress, zstd.compress, lambda text: gzip.compress(text[:9]) + gzip.compress(text[9:])]
)
def test_what_is_packed_is_known_by_its_bytes(tmp_path: Path, pack: type[bytes]) -> None:
    text = "".join(f"{URL}{number}\n" for number in range(50_000))
    path = written(tmp_path / "urls.txt", pack(text.encode()))
    lines, refused = read(path)
    assert lines == [(f"{path}:{number + 1}", f"{URL}{number}") for number in range(50_000)]
    assert refused == []


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
@pytest.mark.parametrize("damage", [lambda packed: packed[:-20], lambda packed: packed[:-20] + b"x" * 20])
def test_what_stands_before_the_damage_is_read(tmp_path: Path, pack: type[bytes], damage: type[bytes]) -> None:
    noise = Random(1).randbytes(200_000).hex()
    text = "\n".join(noise[at : at + 100] for at in range(0, len(noise), 100))
    path = written(tmp_path / "urls", damage(pack(text.encode())))
    lines, (refused,) = read(path)
    whole = text.split("\n")
    sure = len(lines) - 3  # the checksum at the end tells that the last ones are wrong
    assert [line for _, line in lines[:sure]] == whole[:sure]
    assert len(lines) > len(whole) / 2
    assert refused.startswith(f"'{path}' cannot be read after line {len(lines)} (")


def test_a_line_of_any_length_takes_no_more_memory_than_its_limit(tmp_path: Path) -> None:
    long = "x" * (3 * MAX_LINE)
    path = written(tmp_path / "urls.txt", f"{URL}\n{long}\n{URL}2\n{long}".encode())
    lines, refused = read(path)
    assert lines == [(f"{path}:1", URL), (f"{path}:3", f"{URL}2")]
    words = f"line has {3 * MAX_LINE} characters, more than the {MAX_LINE} allowed: {'x' * 60}..."
    assert refused == [f"{path}:2: {words}", f"{path}:4: {words}"]


CSV = """id,URL,title
1,https://shop.example/1,one

2,"https://shop.example/2","two
lines"
3
4,https://shop.example/4,"4"""


@pytest.mark.parametrize("column", ["url", " URL", "2"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_column_of_csv(tmp_path: Path, column: str, delimiter: str) -> None:
    path = written(tmp_path / "urls.csv", CSV.replace(",", delimiter).encode("utf-8-sig"))
    lines, refused = read(path, column=column)
    assert lines == [(f"{path}:2", f"{URL}1"), (f"{path}:4", f"{URL}2")]
    assert refused == [
        f"{path}:6: row has 1 columns, none for {column!r}",
        f"{path}:7: row cannot be read as CSV (unexpected end of data)",
    ]


def test_csv_without_a_header_has_numbers(tmp_path: Path) -> None:
    path = written(tmp_path / "urls.csv", b"1,https://shop.example/1\n2,https://shop.example/2\n")
    assert [line for _, line in read(path, column="2")[0]] == [f"{URL}1", f"{URL}2"]
    for column in ("3", "0", "url", ""):
        lines, refused = read(path, column=column or "loc")
        assert lines == []
        words = f"has no column {column or 'loc'!r}: its first line is '1,https://shop.example/1'"
        assert refused == [f"{str(path)!r} {words}"]


def test_a_quote_that_is_never_closed_hides_no_line_silently(tmp_path: Path) -> None:
    rows = [f"https://shop.example/{number},x" for number in range(20_000)]
    rows[10] = 'https://shop.example/10,"x'
    path = written(tmp_path / "urls.csv", "\n".join(["url,title", *rows]).encode())
    lines, refused = read(path, column="url")
    hidden = 20_000 - len(lines)
    assert refused[0].startswith(f"{path}:12: lines 12 to {12 + hidden - 1} cannot be read as CSV (field larger")
    assert [line for _, line in lines] == [f"{URL}{number}" for number in (*range(10), *range(10 + hidden, 20_000))]


def test_a_first_line_that_is_longer_than_a_field_of_csv_may_be_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "urls.csv", b"a" * 140_000 + b",url\nhttps://shop.example/,1\n")
    lines, (refused,) = read(path, column="url")
    assert lines == []
    assert refused.startswith(f"'{path}' cannot be read after line 1 (field larger than field limit")


@pytest.mark.parametrize(("size", "column"), [(0, ""), (0, "url"), (1, "")])
def test_nearly_empty_files(tmp_path: Path, size: int, column: str) -> None:
    path = written(tmp_path / "urls.txt", b"("[:size])
    lines, refused = read(path, column=column)
    assert [line for _, line in lines] == ["("][:size]
    assert len(refused) == bool(column)


def test_a_pipe_that_waits_holds_nothing_back_and_ends_when_nobody_reads_on(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer: list[int] = []
    opening = Thread(target=lambda: writer.append(os.open(pipe, os.O_WRONLY)))
    opening.start()
    stop = Event()
    found = chunks([str(pipe)], "", stop)
    read_on = Thread(target=lambda: got.extend(found))
    got: list[Chunk] = []
    raw = next(found)  # the pipe is open, and nothing has come
    opening.join()
    os.write(writer[0], b"https://shop.example/\n")
    assert (raw.lines, next(found).lines) == ([], [URL])
    read_on.start()
    stop.set()
    read_on.join(timeout=30)
    os.close(writer[0])
    assert not read_on.is_alive()
    assert [line for chunk in got for line in chunk.lines] == []


@pytest.mark.parametrize("sent", [None, b"", b"\x1f"], ids=["nobody writes", "nothing is written", "half a magic"])
def test_a_pipe_from_which_nothing_comes_ends_when_nobody_reads_on(tmp_path: Path, sent: bytes | None) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    stop, got = Event(), list[Chunk]()
    reader = Thread(target=lambda: got.extend(chunks([str(pipe)], "", stop)), daemon=True)
    reader.start()
    writer = None if sent is None else os.open(pipe, os.O_RDWR)
    if writer is not None and sent:
        os.write(writer, sent)
    stop.set()
    reader.join(timeout=30)
    is_stuck = reader.is_alive()
    os.close(os.open(pipe, os.O_RDWR) if writer is None else writer)  # one that waits to open it, or for more, goes on
    reader.join(timeout=30)
    assert not is_stuck
    assert [line for chunk in got for line in chunk.lines if line.strip("\x1f")] == []
