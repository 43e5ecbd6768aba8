"""The HTTP server of metrics and probes."""

from __future__ import annotations

import logging
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from crawler.extensions import endpoint as served
from crawler.extensions.endpoint import ProbeAnswer, ProbeServer
from demo.state import any_port


def _broken(accept: str) -> ProbeAnswer:
    raise LookupError("a bug in a route")


@pytest.fixture
def endpoint() -> Iterator[ProbeServer]:
    """Two routes on a port of their own."""
    server = ProbeServer("127.0.0.1", 0, {"/good": lambda accept: ProbeAnswer(200, b"fine"), "/broken": _broken})
    yield server
    server.close()


def test_a_route_is_served_whatever_its_query(endpoint: ProbeServer) -> None:
    with urllib.request.urlopen(f"{endpoint.url}/good?x=1", timeout=60) as answer:
        assert (answer.status, answer.read()) == (200, b"fine")
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert "Python" not in answer.headers["Server"]


def test_it_listens_on_either_kind_of_address_and_asks_no_name_server(monkeypatch: pytest.MonkeyPatch) -> None:
    def getfqdn(name: str = "") -> str:
        raise AssertionError(f"the name of {name} was asked for")

    monkeypatch.setattr(socket, "getfqdn", getfqdn)
    ProbeServer("127.0.0.1", 0, {}).close()
    try:
        endpoint = ProbeServer("::1", 0, {"/good": lambda accept: ProbeAnswer(200, b"fine")})
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    try:
        assert endpoint.url.startswith("http://[::1]:")
        with urllib.request.urlopen(f"{endpoint.url}/good", timeout=60) as answer:
            assert answer.read() == b"fine"
    finally:
        endpoint.close()


def test_a_bug_in_a_route_is_logged_and_the_next_request_served(
    endpoint: ProbeServer, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(OSError, match="Remote end closed connection"):
        urllib.request.urlopen(f"{endpoint.url}/broken", timeout=60)
    with urllib.request.urlopen(f"{endpoint.url}/good", timeout=60) as answer:
        assert answer.status == 200
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "a bug in a route" in caplog.text


def test_other_methods_are_refused(endpoint: ProbeServer) -> None:
    request = urllib.request.Request(f"{endpoint.url}/good", data=b"x", method="POST")
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=60)
    with caught.value:
        assert caught.value.code == 501


def test_a_taken_port_is_an_error_and_a_closed_endpoint_frees_its_own() -> None:
    port = any_port()  # one that no connection of another process is given between the two below
    with socket.create_server(("127.0.0.1", port)), pytest.raises(OSError, match="in use"):
        ProbeServer("127.0.0.1", port, {})
    endpoint = ProbeServer("127.0.0.1", port, {})
    endpoint.close()
    ProbeServer("127.0.0.1", port, {}).close()


def test_the_oldest_of_too_many_clients_makes_room(endpoint: ProbeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "MOST_CLIENTS", 4)
    monkeypatch.setattr(served._Handler, "timeout", 3_600)  # as of one that sends a byte now and then
    port = int(endpoint.url.rpartition(":")[2])
    slow = []
    for _ in range(10):
        slow.append(socket.create_connection(("127.0.0.1", port)))
        slow[-1].sendall(b"GET /go")
    with urllib.request.urlopen(f"{endpoint.url}/good", timeout=60) as answer:
        assert answer.status == 200
    for client in slow[:7]:
        client.settimeout(60)
        assert client.recv(100) == b""
    for client in slow:
        client.close()


def test_a_silent_client_does_not_hold_up_the_others_nor_the_end(
    endpoint: ProbeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served._Handler, "timeout", 3_600)
    port = int(endpoint.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)), urllib.request.urlopen(f"{endpoint.url}/good", timeout=60) as a:
        assert a.status == 200


def test_a_name_server_that_does_not_answer_holds_up_the_start_for_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "LOOKUP_SECONDS", 0.05)
    monkeypatch.setattr("socket.gethostbyname", lambda name: threading.Event().wait(5))
    with pytest.raises(OSError, match=r"no name server answers within 0.05 s"):
        ProbeServer("metrics.example", 0, {})


@pytest.mark.parametrize("host", ["a..b", "x" * 70, "nowhere.invalid"])
def test_what_names_no_address_is_an_error_of_the_system(host: str) -> None:
    with pytest.raises(OSError):
        ProbeServer(host, 0, {})
