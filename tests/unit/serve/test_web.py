"""HTTP of the service: in a thread, so that it answers while the event loop is stuck."""

from __future__ import annotations

import json
import socket
import threading
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from crawler.errors import ConfigError
from crawler.serve.config import ServeConfig
from crawler.serve.web import WebServer
from tests.integration.embedded.users import eventually
from tests.shipped import shipped


def thread(_: Request) -> Response:
    return PlainTextResponse(json.dumps(threading.current_thread() is threading.main_thread()))


def broken(_: Request) -> Response:
    raise ValueError("a bug")


@pytest.fixture
def web() -> Any:
    server = WebServer("127.0.0.1", 0, {"/thread": thread, "/broken": broken})
    yield server
    server.close()


def ask(web: WebServer, path: str, method: str = "GET") -> tuple[int, str]:
    where = urlsplit(web.url)
    connection = HTTPConnection(str(where.hostname), where.port, timeout=60)
    connection.request(method, path)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def is_cut_off(client: socket.socket) -> bool:
    """Whether the server closes it, without a word."""
    client.settimeout(60)
    try:
        return client.recv(100) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def test_routes_answer_while_the_main_thread_waits(web: WebServer) -> None:
    assert ask(web, "/thread?verbose") == (200, "false")


def test_what_is_not_there_is_told_from_what_is(web: WebServer) -> None:
    assert ask(web, "/nothing") == (404, "try /broken, /thread\n")
    assert ask(web, "/thread", "POST")[0] == 405
    assert ask(web, "/broken")[0] == 500
    assert ask(web, "/thread")[0] == 200, "a route with a bug harms no other"


def test_a_port_that_is_taken_is_refused_by_name(web: WebServer) -> None:
    port = int(web.url.rpartition(":")[2])
    with pytest.raises(ConfigError, match=rf"SERVE_PORT = {port} .*\(Address already in use\)"):
        WebServer("127.0.0.1", port, {})


@pytest.mark.parametrize("host", ["nowhere.invalid", "\udcff", "a" * 300, "192.0.2.1"])
def test_a_host_that_is_not_here_is_refused_by_name(host: str) -> None:
    with pytest.raises(ConfigError, match="SERVE_HOST"):
        WebServer(host, 0, {})


def test_it_listens_on_addresses_of_either_kind() -> None:
    try:
        server = WebServer("::1", 0, {"/thread": thread})
    except ConfigError:
        pytest.skip("no IPv6 here")
    assert server.url.startswith("http://[::1]:")
    assert ask(server, "/thread")[0] == 200
    server.close()


def test_those_who_neither_ask_nor_listen_are_cut_off(web: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.serve.web.CLIENT_SECONDS", 0.3)
    port = int(web.url.rpartition(":")[2])
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(300)]
    for client in silent[::2]:
        client.sendall(b"GET /thread HTTP/1.1\r\nHost: x\r\nX-Slow: ")
    kept = HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(2):
        kept.request("GET", "/thread")
        assert kept.getresponse().read() == b"false", "others are answered meanwhile"
    for client in (*silent, kept.sock):
        assert client is not None
        assert is_cut_off(client)
        client.close()


def test_who_asks_much_and_reads_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.serve.web.CLIENT_SECONDS", 0.3)
    server = WebServer("127.0.0.1", 0, {"/large": lambda _: Response(b"x" * 1_000_000)})
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
        client.recv(1)
        assert eventually(lambda: not server._server.server_state.connections)
    server.close()


def test_the_oldest_of_too_many_makes_room(web: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.serve.web.MOST_CLIENTS", 8)
    monkeypatch.setattr("crawler.serve.web.CLIENT_SECONDS", 3_600)
    port = int(web.url.rpartition(":")[2])
    silent = []
    for _ in range(20):
        silent.append(socket.create_connection(("127.0.0.1", port)))
        silent[-1].sendall(b"GET /thr")
    assert ask(web, "/thread")[0] == 200
    assert all(is_cut_off(client) for client in silent[:12])
    for client in silent:
        client.close()


def test_endless_headers_are_refused(web: WebServer) -> None:
    with socket.create_connection(("127.0.0.1", int(web.url.rpartition(":")[2]))) as client:
        client.settimeout(60)
        client.sendall(b"GET /thread HTTP/1.1\r\n" + b"X-Y: " + b"a" * 200_000)
        assert client.recv(100).startswith(b"HTTP/1.1 400 ")
    assert ask(web, "/thread")[0] == 200


def test_what_is_no_http_is_told_to_its_client_and_fills_no_log(
    web: WebServer, caplog: pytest.LogCaptureFixture
) -> None:
    """As of a scanner, or a probe that expects TLS: a line for each said neither who asked nor what."""
    for said in (b"\x16\x03\x01\0\xfe\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", int(web.url.rpartition(":")[2]))) as client:
            client.settimeout(60)
            client.sendall(said)
            assert client.recv(100).startswith(b"HTTP/1.1 400 ")
    assert caplog.text == ""
    assert ask(web, "/broken")[0] == 500
    assert eventually(lambda: "a bug" in caplog.text), "our own errors are logged, after the answer"


def test_who_says_nothing_does_not_hold_its_end_up(web: WebServer) -> None:
    with socket.create_connection(("127.0.0.1", int(web.url.rpartition(":")[2]))) as client:
        client.sendall(b"GET /thr")
        web.close()
    assert "web" not in [one.name for one in threading.enumerate()]


@pytest.mark.parametrize("value", ["", " ", 7, None])
def test_a_host_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match=r"^SERVE_HOST = "):
        ServeConfig.from_settings(shipped(SERVE_HOST=value))
