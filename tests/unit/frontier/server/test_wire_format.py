"""The bytes that Python and Lua exchange."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import MessageError
from crawler.frontier.messages import MAX_FINGERPRINT, Message, PushOutcome, SpiderStats
from crawler.frontier.server.keys import shard_of, shard_of_id, split_id, tag
from crawler.frontier.server.wire_format import handle_row, seal, unseal

messages = st.builds(
    Message,
    host=st.text(min_size=1, max_size=60),
    stream=st.just("s:browser"),
    spider=st.just("s"),
    body=st.binary(max_size=300),
    fingerprint=st.integers(0, MAX_FINGERPRINT),
    digest=st.binary(max_size=20),
    priority=st.integers(-5_000, 5_000),
    generation=st.integers(0, 10**6).map(str),
)


@given(messages)
def test_an_envelope_gives_back_what_was_sealed(message: Message) -> None:
    opened = unseal(seal(message))
    assert opened.body == message.body
    assert opened.fingerprint == message.fingerprint
    assert opened.generation == message.generation
    assert opened.priority == max(-1_000, min(1_000, message.priority))


GOOD = {"host": "a.example", "stream": "s", "spider": "s", "body": b"", "fingerprint": 1}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"stream": "t"}, "stream = 't' is invalid: expected spider or spider:tier"),
        ({"stream": "s!"}, "stream"),
        ({"spider": ""}, "stream"),
        ({"stream": "s\n", "spider": "s\n"}, "stream"),
        ({"host": ""}, "host = '' is invalid: expected 1 to 255 bytes"),
        ({"host": "x" * 256}, "host = 'xxx"),
        ({"fingerprint": -1}, "expected 63 bits"),
        ({"fingerprint": MAX_FINGERPRINT + 1}, "expected 63 bits"),
        ({"digest": b"x" * 65}, "digest"),
        ({"generation": "1:2"}, "generation"),
        ({"generation": ""}, "generation"),
        ({"cap": 0}, "cap"),
        ({"cap": 1_001}, "cap"),
        ({"delay_ms": -1}, "delay"),
        ({"delay_ms": 86_400_001}, "delay"),
    ],
)
def test_what_cannot_be_stored_is_refused(change: dict[str, object], what: str) -> None:
    with pytest.raises(MessageError, match=what):
        Message(**GOOD | change)  # type: ignore[arg-type]


def test_outcomes_speak() -> None:
    assert [str(outcome) for outcome in PushOutcome] == [
        "accepted",
        "duplicate",
        "duplicate/dead",
        "refused/full",
        "refused/memory",
        "cancelled",
    ]


def test_stats_add_up() -> None:
    total = SpiderStats(queued=1, delayed=2, done=3) + SpiderStats(queued=4, seen=5)
    assert total == SpiderStats(queued=5, delayed=2, done=3, seen=5)
    assert total.backlog == 7


def test_handles_carry_their_shard() -> None:
    assert (split_id("3:17"), shard_of_id("3:17")) == ((3, 17), 3)
    assert handle_row(("3:17", 99)) == struct.pack("<dd", 17, 99)
    assert tag("shoal", 3) == "{shoal:3}"


@given(st.text(min_size=1), st.integers(1, 64))
def test_a_host_has_one_shard(host: str, shards: int) -> None:
    assert 0 <= shard_of(host, shards) < shards
    assert shard_of(host, shards) == shard_of(host, shards)
