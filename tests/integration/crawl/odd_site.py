"""A site on a raw socket that breaks every rule: what a path answers is bytes, and how the connection goes on."""

from __future__ import annotations

import gzip
import socket
import struct
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Self

import brotli

BOMB_MB = 300
PAGE = b"<html><title>A page</title></html>"
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close at once, with RST

Bytes = Iterator[bytes]


def head(status: str = "200 OK", **headers: object) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode()


def page(body: bytes = PAGE, status: str = "200 OK", **headers: object) -> Bytes:
    yield head(status, **{"Content_Type": "text/html", "Content_Length": len(body)} | headers)
    yield body


def raw(*parts: bytes) -> Callable[[], Bytes]:
    return lambda: iter(parts)


def redirect(location: str) -> Callable[[], Bytes]:
    return lambda: page(b"", "302 Found", Location=location)


def encoded(encoding: str, body: Callable[[], bytes]) -> Callable[[], Bytes]:
    return lambda: page(body(), Content_Encoding=encoding)


def drip() -> Bytes:
    yield head(Content_Type="text/html", Content_Length=1_000)
    while True:
        time.sleep(0.05)
        yield b"x"


def silence() -> Bytes:
    time.sleep(20)
    yield b""


def endless(part: bytes) -> Bytes:
    while True:
        yield part


def endless_chunks() -> Bytes:
    yield head(Content_Type="text/html", Transfer_Encoding="chunked")
    yield from endless(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")


def too_long() -> Bytes:
    yield head(Content_Type="text/html", Content_Length=1_000_000_000)
    yield from endless(b"x" * 0x10000)


def without_length() -> Bytes:
    yield head(Content_Type="text/html")
    yield from endless(b"x" * 0x10000)


@cache
def gzip_bomb() -> bytes:
    deflate, zeros = zlib.compressobj(1, zlib.DEFLATED, 31), bytes(1 << 20)
    return b"".join([*(deflate.compress(zeros) for _ in range(BOMB_MB)), deflate.flush()])


@cache
def brotli_bomb() -> bytes:
    pack, zeros = brotli.Compressor(quality=1), bytes(1 << 20)
    return b"".join([*(pack.process(zeros) for _ in range(BOMB_MB)), pack.finish()])


ODDITIES: dict[str, Callable[[], Bytes]] = {
    # the connection
    "/drop": raw(),
    "/reset": raw(b"RST"),
    "/cut-status-line": raw(b"HTTP/1.1 20"),
    "/cut-headers": raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/ht"),
    "/cut-body": raw(head(Content_Type="text/html", Content_Length=1_000), PAGE),
    "/silence": silence,
    "/drip": drip,
    # framing
    "/chunks-cut": raw(head(Transfer_Encoding="chunked"), b"22\r\n" + PAGE),
    "/chunks-bad-size": raw(head(Transfer_Encoding="chunked"), b"zz\r\n" + PAGE + b"\r\n0\r\n\r\n"),
    "/chunks-without-end": raw(head(Transfer_Encoding="chunked"), b"22\r\n" + PAGE + b"\r\n"),
    "/more-than-announced": raw(head(Content_Type="text/html", Content_Length=len(PAGE)), PAGE + b"and more"),
    "/until-closed": raw(head(Content_Type="text/html"), PAGE),
    "/not-http": raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"),
    "/empty": lambda: page(b""),
    "/part": lambda: page(status="206 Partial Content", Content_Range="bytes 0-33/5000"),
    "/all-as-part": lambda: page(status="206 Partial Content", Content_Range=f"bytes 0-{len(PAGE) - 1}/{len(PAGE)}"),
    "/strange-status": lambda: page(status="999 Request denied"),
    # redirects
    "/loop": redirect("/loop-back"),
    "/loop-back": redirect("/loop"),
    "/itself": redirect("/itself"),
    "/nowhere": redirect(""),
    # encodings
    "/no-such-charset": lambda: page(Content_Type="text/html; charset=klingon"),
    "/wrong-charset": lambda: page("<title>Grüße</title>".encode("latin-1"), Content_Type="text/html; charset=utf-8"),
    "/binary-as-html": lambda: page(bytes(range(256)) * 40),
    "/not-gzip": encoded("gzip", lambda: PAGE),
    "/gzip-cut": encoded("gzip", lambda: gzip.compress(PAGE * 100)[:-20]),
    "/not-brotli": encoded("br", lambda: PAGE),
    # size
    "/too-long": too_long,
    "/endless-chunks": endless_chunks,
    "/endless": without_length,
    "/gzip-bomb": encoded("gzip", gzip_bomb),
    "/brotli-bomb": encoded("br", brotli_bomb),
    "/page": page,
}


class OddSite:
    """Serves ODDITIES on a loopback address, one thread per connection."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}{path}"

    def __enter__(self) -> Self:
        gzip_bomb()  # before the clock runs
        brotli_bomb()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            request = b""
            try:
                while b"\r\n\r\n" not in request and (read := connection.recv(65_536)):
                    request += read
                if request:
                    self._answer(connection, request.split(b" ", 2)[1].decode())
            except OSError:
                return  # the client has had enough

    def _answer(self, connection: socket.socket, path: str) -> None:
        self.asked[path] += 1
        for part in ODDITIES[path]():
            if self._stopped.is_set():
                return
            if part == b"RST":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                return
            connection.sendall(part)
