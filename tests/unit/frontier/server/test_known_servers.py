"""Which answers to INFO tell of another server."""

from __future__ import annotations

import pytest

from crawler.frontier.server.known_servers import KnownServers, read_info

NONE = "0" * 40  # what `master_replid2` says of data that has no earlier history


def info(run_id: str, history: str = "", earlier: str = NONE) -> dict[str, str]:
    return {"run_id": run_id, "master_replid": history, "master_replid2": earlier}


A, B = info("a", "ha"), info("b", "hb")


@pytest.mark.parametrize(
    ("met", "others"),
    [
        ([("A", A), ("B", B), ("A", A)], 0),
        ([("A", A), ("A", info("a2", "ha2")), ("A", info("a2", "ha2"))], 1),
        ([("A", A), ("A2", info("a2", "ha")), ("A2", info("a2", "new", "ha")), ("A2", info("a2", "new", "ha"))], 1),
        ([("A", A), ("B", B), ("A2", info("a2", "new", "ha")), ("A", info("a", "newer", "new"))], 2),
        ([("A", A), ("A", info("a", "idle"))], 0),
        ([("", info("a")), ("", info("b")), ("", info("b"))], 1),
        ([("", info("a")), ("", {}), ("", info("a"))], 0),
    ],
    ids=[
        "two nodes",
        "started again",
        "a replica took over",
        "and back",
        "a history that ended because no replica asked for it",
        "no replication",
        "not told each time",
    ],
)
def test_another_one_is_told_once(met: list[tuple[str, dict[str, str]]], others: int) -> None:
    servers = KnownServers()
    assert sum(servers.met(address, told) for address, told in met) == others


def look(servers: KnownServers, told: dict[str, dict[str, str]], silent: str = "") -> bool:
    """At all that answer, and one that is *silent*."""
    return servers.are(told, told.keys() | {silent})


def test_a_look_at_all_tells_nothing_that_a_connection_has_told() -> None:
    servers = KnownServers()
    assert not look(servers, {"A": A, "B": B})
    new = info("a2", "new", "ha")
    assert servers.met("A2", new)
    assert not look(servers, {"A2": new, "B": B})
    assert servers.met("B", info("b2", "hb2"))
    assert not look(servers, {"A2": new, "B": info("b2", "hb2")})


def test_a_look_at_all_tells_what_no_connection_has_told() -> None:
    servers = KnownServers()
    assert not look(servers, {"A": A})
    assert not look(servers, {"A": A, "B": B}), "a node without slots until now"
    assert look(servers, {"A": A, "B": info("b2", "new", "hb")})
    assert look(servers, {"A": info("a2", "ha2"), "B": info("b2", "new", "hb")})
    elsewhere = {"A elsewhere": info("a3", "ha3"), "B": info("b2", "new", "hb")}
    assert look(servers, elsewhere), "started with another address"


def test_one_that_is_silent_for_a_while_is_the_same_unless_it_was_started_again() -> None:
    servers = KnownServers()
    assert not look(servers, {"A": A, "B": B})
    assert not look(servers, {"A": A}, silent="B")
    assert not look(servers, {"A": A, "B": B})
    assert not look(servers, {"A": A}, silent="B")
    assert look(servers, {"A": A, "B": info("b2", "hb2")})
    assert not look(servers, {"A": A}, silent="B")
    assert look(servers, {"A": A}), "its slots are elsewhere"


@pytest.mark.parametrize("kind", [str, str.encode])
def test_an_answer_to_info_is_read_decoded_or_not(kind: type) -> None:
    text = "# Server\r\nredis_version:9\r\nrun_id:aa\r\n# Replication\r\nmaster_replid:bb\r\nmaster_replid2:cc\r\n"
    assert read_info(kind(text)) == info("aa", "bb", "cc")
