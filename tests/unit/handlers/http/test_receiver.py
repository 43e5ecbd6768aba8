"""Responses parsed from bytes, cut anywhere, with any defect."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.handlers.http.errors import BadResponseError, IncompleteError
from crawler.handlers.http.head import ResponseHead
from crawler.handlers.http.receiver import HeadLimits, Receiver
from tests.effort import cpu_seconds

LIMITS = HeadLimits(max_bytes=4_096, max_count=20)
CLOSED = None  # what a connection that ends in order says


class Heard:
    """What a listener hears."""

    def __init__(self) -> None:
        self.head: ResponseHead | None = None
        self.size: int | None = -1
        self.pieces: list[bytes] = []
        self.wire = 0

    def wire_received(self, size: int) -> None:
        self.wire = size

    def head_received(self, head: ResponseHead, size: int | None) -> None:
        assert self.head is None
        self.head, self.size = head, size

    def data_received(self, data: bytes) -> None:
        assert data
        self.pieces.append(data)

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)


def receive(*pieces: bytes, method: str = "GET") -> tuple[Heard, Receiver, bool]:
    heard = Heard()
    receiver = Receiver(method, LIMITS, heard)
    complete = False
    for piece in pieces:
        assert not complete, "fed after its end"
        complete = receiver.feed(piece)
    return heard, receiver, complete


def fields(heard: Heard) -> dict[bytes, list[bytes]]:
    assert heard.head is not None
    return dict(heard.head.headers)


WHOLE = {
    "sized": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
    "chunked": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n", b"hello"),
    "padded chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5   \r\nhello\r\n0  \r\n\r\n", b"hello"),
    "status 000": (b"HTTP/1.1 000 None\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
    "with trailers": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n",
        b"hello",
    ),
    "chunked and sized": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"hello",
    ),
    "a folded length": (b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\t5\r\n\r\nhello", b"hello"),
    "identity": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
    "empty": (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b""),
    "no content": (b"HTTP/1.1 204 No Content\r\nX: y\r\n\r\n", b""),
    "not modified": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n", b""),
    "interim": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hint\r\nA: b\r\n\r\nHTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello",
        b"hello",
    ),
    "bare line feeds": (b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", b"hello"),
    "mixed line ends": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\nhello", b"hello"),
    "empty lines before": (b"\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
    "a body that looks like a head": (b"HTTP/1.1 200 OK\nContent-Length: 9\n\nab\r\n\r\ncde", b"ab\r\n\r\ncde"),
    "the same length twice": (b"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
    "no reason": (b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
    "1.0": (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
}  # fmt: skip


@pytest.mark.parametrize(("raw", "body"), WHOLE.values(), ids=WHOLE)
def test_a_response_is_read_alike_however_it_is_cut(raw: bytes, body: bytes) -> None:
    heard, receiver, complete = receive(raw)

    assert (complete, heard.body) == (True, body)
    assert receiver.is_partial is False
    for place in range(1, len(raw)):
        again, _, complete = receive(raw[:place], raw[place:])
        assert (complete, again.body, again.head) == (True, body, heard.head), raw[:place]
    byte_by_byte, _, complete = receive(*(bytes([byte]) for byte in raw))
    assert (complete, byte_by_byte.body) == (True, body)


@given(st.binary(max_size=200), st.lists(st.integers(1, 400), max_size=8), st.sampled_from(["sized", "chunked"]))
def test_any_body_survives_any_cutting(body: bytes, cuts: list[int], framing: str) -> None:
    if framing == "sized":
        raw = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    else:
        chunks = [body[i : i + 7] for i in range(0, len(body), 7)]
        raw = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        raw += b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    places = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})

    heard, receiver, complete = receive(*(raw[a:b] for a, b in pairwise(places)))

    assert (complete, heard.body, receiver.reusable) == (True, body, True)


@given(st.binary(max_size=600))
def test_no_bytes_break_it_otherwise_than_by_saying_so(raw: bytes) -> None:
    for head in (b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"):
        with suppress(BadResponseError, IncompleteError):
            _, receiver, complete = receive(head + raw)
            if not complete:
                receiver.closed(CLOSED)
            assert complete or receiver.is_partial


def test_a_body_of_unknown_size_ends_with_the_connection() -> None:
    heard, receiver, complete = receive(b"HTTP/1.1 200 OK\r\n\r\nhel", b"lo")

    receiver.closed(CLOSED)

    assert (complete, heard.body, heard.size, receiver.is_partial, receiver.reusable) == (
        False,
        b"hello",
        None,
        True,
        False,
    )
    with pytest.raises(IncompleteError, match="reset"):
        receiver.closed(ConnectionResetError("reset"))


@pytest.mark.parametrize("length", [b"-1", b"five", b"1e3", b"", b"+5", b"9" * 30])
def test_a_length_that_is_no_number_is_as_good_as_none(length: bytes) -> None:
    heard, receiver, complete = receive(b"HTTP/1.1 200 OK\r\nContent-Length: " + length + b"\r\n\r\nhello")

    assert (complete, heard.body, heard.size, receiver.is_partial) == (False, b"hello", None, True)


def test_an_answer_to_head_has_no_body_and_keeps_its_length() -> None:
    heard, receiver, complete = receive(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", method="HEAD")

    assert (complete, heard.body, heard.size, receiver.reusable) == (True, b"", 0, True)
    assert fields(heard)[b"Content-Length"] == [b"500"]


@pytest.mark.parametrize("head", [b"HTTP/1.0 200 Connection established", b"HTTP/1.1 200 OK\r\nContent-Length: 5"])
def test_a_tunnel_begins_behind_the_head(head: bytes) -> None:
    _, receiver, complete = receive(head + b"\r\n\r\n", method="CONNECT")

    assert (complete, receiver.reusable) == (True, True)


@pytest.mark.parametrize(
    ("head", "reusable"),
    [
        (b"HTTP/1.1 200 OK", True),
        (b"HTTP/1.1 200 OK\r\nConnection: Keep-Alive", True),
        (b"HTTP/1.1 200 OK\r\nConnection: Upgrade, Close", False),
        (b"HTTP/1.0 200 OK", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive", True),
    ],
)
def test_a_connection_is_kept_where_the_server_keeps_it(head: bytes, reusable: bool) -> None:
    _, receiver, complete = receive(head + b"\r\nContent-Length: 0\r\n\r\n")

    assert (complete, receiver.reusable) == (True, reusable)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked",
        b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked",
    ],
)
def test_a_connection_is_not_kept_where_others_see_another_end_of_the_body(head: bytes) -> None:
    heard, receiver, complete = receive(head + b"\r\n\r\n5\r\nhello\r\n0\r\n\r\n")

    assert (complete, heard.body, receiver.reusable) == (True, b"hello", False)


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\nsurprise",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nrubbish",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
    ],
)
def test_what_comes_behind_a_response_is_never_anyones_answer(raw: bytes) -> None:
    heard, receiver, complete = receive(raw)

    assert (complete, receiver.reusable) == (True, False)
    assert heard.body in {b"hello", b""}


@pytest.mark.parametrize(
    "raw", ["5\r\nhel", "5\r\nhello\r\n", "zz\r\n", "5\r\nhelloxx", "-1\r\n", "fffffffffffffffff\r\n"]
)
def test_chunks_that_end_early_or_make_no_sense_are_incomplete(raw: str) -> None:
    heard = Heard()
    receiver = Receiver("GET", LIMITS, heard)

    def read() -> None:
        receiver.feed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + raw.encode())
        receiver.closed(CLOSED)

    with pytest.raises(IncompleteError):
        read()
    assert b"hello".startswith(heard.body)


def test_a_sized_body_that_ends_early_is_incomplete() -> None:
    heard, receiver, _ = receive(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")

    with pytest.raises(IncompleteError, match="middle of the body"):
        receiver.closed(CLOSED)
    assert heard.body == b"hello"


def test_bad_header_lines_are_skipped_and_folded_ones_joined() -> None:
    heard, _, _ = receive(
        b"HTTP/1.1 200 OK\r\nno colon here\r\nX-Folded: a\r\n b\r\n\tc\r\nX : spaced \r\nX-Latin: caf\xe9\r\n"
        b"Set-Cookie: a=1\r\nset-cookie: b=2\r\nContent-Length: 0\r\n\r\n"
    )

    assert fields(heard) == {
        b"X-Folded": [b"a b c"],
        b"X": [b"spaced"],
        b"X-Latin": [b"caf\xe9"],
        b"Set-Cookie": [b"a=1", b"b=2"],
        b"Content-Length": [b"0"],
    }


def test_what_may_be_sent_back_holds_no_line_break() -> None:
    heard, _, complete = receive(b'HTTP/1.1 200 OK\r\nETag: "a\rX: b\0"\r\nContent-Length: 0\r\nB: \r\r\n\r\n')

    assert complete
    assert fields(heard) == {b"Etag": [b'"a X: b "'], b"Content-Length": [b"0"], b"B": [b""]}


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"<html>hello</html>\r\n\r\n", "not an HTTP/1.x response"),
        (b"SSH-2.0-OpenSSH_9.0\r\n\r\n", "not an HTTP/1.x response"),
        (b"HTTP/1.1 2000 OK\r\n\r\n", "not an HTTP/1.x response"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", "switched protocols"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", "two different Content-Length"),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 21 + b"\r\n", "DOWNLOAD_HEADERS_MAXCOUNT"),
        (b"HTTP/1.1 200 OK\r\nA: " + b"b" * 4_096, "DOWNLOAD_HEADERS_MAXSIZE"),
        (b"HTTP/1.1 200 OK\r\nA: " + b"b" * 4_096 + b"\r\n\r\n", "DOWNLOAD_HEADERS_MAXSIZE"),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n" * 200, "DOWNLOAD_HEADERS_MAXSIZE"),
        (b"\r\n" * 4_096, "DOWNLOAD_HEADERS_MAXSIZE"),
    ],
)  # fmt: skip
def test_what_is_no_response_says_why(raw: bytes, words: str) -> None:
    with pytest.raises(BadResponseError, match=words):
        receive(raw)


@pytest.mark.parametrize(("over", "is_read"), [(0, True), (1, False)])
def test_heads_count_together_to_the_byte(over: int, is_read: bool) -> None:
    interim, begin = b"HTTP/1.1 103 Early Hints\r\n\r\n" * 50, b"HTTP/1.1 204 No\r\nA: "
    pad = LIMITS.max_bytes - len(interim) - len(begin) - len(b"\r\n\r\n") + over
    raw = interim + begin + b"b" * pad + b"\r\n\r\n"
    for pieces in ([raw], [raw[:100], raw[100:]], [interim, raw[len(interim) :]]):
        if is_read:
            assert receive(*pieces)[2]
        else:
            with pytest.raises(BadResponseError, match="DOWNLOAD_HEADERS_MAXSIZE"):
                receive(*pieces)


@pytest.mark.parametrize(
    ("raw", "words"),
    [(b"", "before anything came"), (b"HTTP/1.1 2", r"in the head, b'HTTP/1\.1 2'"), (b"<html>", "b'<html>'")],
)
def test_a_connection_that_ends_without_a_head_is_a_failure(raw: bytes, words: str) -> None:
    _, receiver, _ = receive(raw)
    with pytest.raises(BadResponseError, match=words):
        receiver.closed(CLOSED)


@pytest.mark.parametrize("line", [b"\n\n", b"HTTP/1.1 100\n\n"])
def test_many_heads_at_once_take_no_longer_than_their_bytes(line: bytes) -> None:
    data = line * (262_144 // len(line))  # what one read takes from a socket

    def read() -> None:
        with pytest.raises(BadResponseError, match="DOWNLOAD_HEADERS_MAXSIZE"):
            Receiver("GET", HeadLimits(max_bytes=65_536, max_count=256), Heard()).feed(data)

    assert cpu_seconds(read, 0.5) < 0.5
