"""Reads everything the frontier has in Redis, independently of its scripts."""

from __future__ import annotations

import struct
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import msgpack

from crawler.frontier.server.wire_format import unseal

DUMP = """
local result = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind = redis.call('TYPE', key).ok
  local value
  if kind == 'string' then value = redis.call('GET', key)
  elseif kind == 'hash' then value = redis.call('HGETALL', key)
  elseif kind == 'list' then value = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'set' then value = redis.call('SMEMBERS', key)
  elseif kind == 'stream' then value = redis.call('XLEN', key)
  else value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end
  result[#result + 1] = {key, value}
end
return result
"""
HOST = struct.Struct("<9d3HI2HhBHh")
_TIMES = ("next", "delay", "floor", "crawl", "blocked", "hold", "hurt", "tripped", "prior")
_NUMBERS = ("cap", "width", "in_flight", "latency", "ok", "bad", "streak", "trips", "burst", "lead")
HOST_FIELDS = (*_TIMES, *_NUMBERS)
PACE = struct.Struct("<9d")
PACE_FIELDS = ("peak", "grown", "noise", "debt", "row", "ref", "trying", "events", "answers")
RECORD = struct.Struct("<5d2BH")
STATE = struct.Struct("<15d")
_DELAYED = ("delayed", "delayed:room", "delayed:aside")
STATE_FIELDS = (
    "schema",
    "born",
    "clock",
    "offset",
    "resumed",
    "seq",
    "token",
    "sets",
    "backlog",
    "evicted",
    "suspects",
    "alarm",
    "early",
    "stepped",
    "again",
)


@dataclass(frozen=True)
class Place:
    """Where a request is, and all that is stored about it there."""

    state: str
    stream: str
    host: str
    generation: str
    fingerprint: int
    priority: int
    body: bytes
    deliveries: int
    at: float = 0.0  # score in its queue, or when a delayed one is due


@dataclass(frozen=True)
class Record:
    """The lease of a request, or of a slot alone."""

    host: str
    stream: str
    token: int
    score: float
    reserved: float
    start_by: float
    started: float
    released: bool
    expires: float


@dataclass
class Observation:
    """One moment of the data."""

    state: dict[str, float] = field(default_factory=dict)
    places: dict[int, Place] = field(default_factory=dict)
    records: dict[int, Record] = field(default_factory=dict)
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    paces: dict[str, dict[str, float]] = field(default_factory=dict)
    due: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    wait: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    park: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    queues: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))  # ids, in order
    early: int = 0  # requests queued before the end of their host's list
    counters: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    seen: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    down: dict[str, float] = field(default_factory=dict)  # since when a host's breaker has been open
    gone: set[int] = field(default_factory=set)
    dead_fingerprints: Counter[tuple[str, int]] = field(default_factory=Counter)
    again: dict[tuple[str, int], set[int]] = field(default_factory=dict)  # letters whose pages are being tried again
    used: dict[str, float] = field(default_factory=dict)  # requests spent, by budget
    pages: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)  # by run and host: used, most
    twice: list[int] = field(default_factory=list)  # ids found in more than one place


def observe(dump: list[tuple[bytes, Any]]) -> Observation:
    """Make sense of what DUMP answers for a frontier of one shard."""
    keys = {key.decode().partition(":")[2].partition(":")[2]: value for key, value in dump}
    seen = Observation(state=dict(zip(STATE_FIELDS, STATE.unpack(keys["state"]), strict=True)))
    _read_hosts(seen, keys)
    _read_paces(seen, keys)
    _read_queues(seen, keys)
    _read_leases(seen, keys)
    _read_dead(seen, keys)
    _read_generations(seen, keys)
    _read_limits(seen, keys)
    return seen


def order_on(seen: Observation, host: str) -> list[int]:
    """All that is queued for a host, in the order in which it is given up."""
    streams = seen.hosts[host]["streams"] if host in seen.hosts else []
    return [number for stream in streams for number in seen.queues[stream, host]]


def _pairs(flat: list[bytes]) -> list[tuple[bytes, bytes]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


def _read_hosts(seen: Observation, keys: dict[str, Any]) -> None:
    seen.down = {key.partition(":")[2]: float(value) for key, value in keys.items() if key.startswith("down:")}
    for host, raw in _pairs(keys.get("hosts", [])):
        values = dict(zip(HOST_FIELDS, HOST.unpack_from(raw), strict=True))
        seen.hosts[host.decode()] = {**values, "streams": raw[HOST.size :].decode().split()}


def _read_paces(seen: Observation, keys: dict[str, Any]) -> None:
    for host, raw in _pairs(keys.get("pace", [])):
        seen.paces[host.decode()] = dict(zip(PACE_FIELDS, PACE.unpack(raw), strict=True))
        assert seen.hosts[host.decode()]["hurt"] > 0, "what is remembered is read again"


def _read_queues(seen: Observation, keys: dict[str, Any]) -> None:
    for key, value in sorted(keys.items(), key=lambda one: one[0].startswith("early:")):  # lists come first
        kind, _, rest = key.partition(":")
        if kind in {"due", "wait"}:
            getattr(seen, kind)[rest] = {host.decode(): float(score) for host, score in _pairs(value)}
        elif kind == "park":
            seen.park[rest] = {host.decode() for host in value}
        elif kind in {"q", "early"}:
            stream, _, host = rest.rpartition(":")
            entries = value if kind == "q" else [entry for entry, _ in _pairs(value)]
            assert entries == sorted(entries, key=_order), "each queue is in order"
            for entry in entries:
                _place(seen, "queued", stream, host, entry[8:], _order(entry)[0])
            seen.queues[stream, host] += [int.from_bytes(entry[8:14], "big") for entry in entries]
            seen.early += len(entries) if kind == "early" else 0
    for entry, ready in (pair for kind in _DELAYED for pair in _pairs(keys.get(kind, []))):
        stream_end = 1 + entry[0]
        host_end = stream_end + 1 + entry[stream_end]
        names = entry[1:stream_end].decode(), entry[stream_end + 1 : host_end].decode()
        _place(seen, "delayed", *names, entry[host_end:], float(ready))


def _order(entry: bytes) -> tuple[float, int]:
    score, high, low = struct.unpack_from(">dHI", entry)
    return score, high << 32 | low


def _place(seen: Observation, state: str, stream: str, host: str, member: bytes, at: float) -> None:
    _put(seen, int.from_bytes(member[:6], "big"), _of_envelope(state, stream, host, member[6], member[9:], at))


def _of_envelope(state: str, stream: str, host: str, deliveries: int, raw: bytes, at: float = 0.0) -> Place:
    sealed = unseal(raw)
    return Place(
        state, stream, host, sealed.generation, sealed.fingerprint, sealed.priority, sealed.body, deliveries, at
    )


def _put(seen: Observation, number: int, place: Place) -> None:
    if number in seen.places:
        seen.twice.append(number)
    seen.places[number] = place


def _read_leases(seen: Observation, keys: dict[str, Any]) -> None:
    bodies = dict(_pairs(keys.get("body", [])))
    expiries = {number: float(at) for number, at in _pairs(keys.get("lease", []))}
    records = dict(_pairs(keys.get("infl", [])))
    assert set(records) == set(expiries), "each record has one expiry"
    for number, raw in records.items():
        token, score, reserved, start_by, started, deliveries, released, _ = RECORD.unpack_from(raw)
        names, at = [], RECORD.size
        for _ in range(4):
            names.append(raw[at + 1 : at + 1 + raw[at]].decode())
            at += 1 + raw[at]
        host, stream = names[:2]
        seen.records[int(number)] = Record(
            host, stream, int(token), score, reserved, start_by, started, bool(released), expiries[number]
        )
        if stream:
            _put(seen, int(number), _of_envelope("leased", stream, host, deliveries, bodies.pop(number)))
    assert not bodies, "each body has a record"


def _read_dead(seen: Observation, keys: dict[str, Any]) -> None:
    letters = dict(_pairs(keys.get("dead", [])))
    assert set(letters) == {number for number, _ in _pairs(keys.get("dead:at", []))}
    for number, raw in letters.items():
        letter = {name.decode(): value for name, value in msgpack.unpackb(raw, raw=True).items()}
        names = letter["stream"].decode(), letter["host"].decode()
        _put(seen, int(number), _of_envelope("dead", *names, letter["deliveries"], letter["envelope"]))
    seen.gone = {int(number) for number, _ in _pairs(keys.get("gone", []))}
    assert seen.gone == {int(number) for number, _ in _pairs(keys.get("gone:at", []))}
    for name, copies in _pairs(keys.get("dead:fp", [])):
        seen.dead_fingerprints[_named(name)] = int(copies)
    seen.again = {_named(name): set(map(int, ids.split())) for name, ids in _pairs(keys.get("dead:again", []))}
    known = {_named(name): set(map(int, ids.split())) for name, ids in _pairs(keys.get("dead:id", []))}
    assert {name: len(ids) for name, ids in known.items()} == seen.dead_fingerprints
    assert set().union(*known.values(), *seen.again.values()) <= set(map(int, letters))
    assert (seen.state["again"] > 0) == bool(seen.again)


def _named(name: bytes) -> tuple[str, int]:
    spider, _, fingerprint = name.partition(b":")
    return spider.decode(), int.from_bytes(fingerprint, "big")


def _read_generations(seen: Observation, keys: dict[str, Any]) -> None:
    sets: dict[str, tuple[str, str]] = {}
    modes: dict[str, bytes] = {}
    for raw in keys.get("gens", []):
        stream, _, generation = raw.decode().rpartition(":")
        fields = {name.decode(): value for name, value in _pairs(keys[f"gen:{raw.decode()}"])}
        numbers = {name: int(value) for name, value in fields.items() if name != "mode"}
        seen.counters[stream, generation] = Counter(numbers)
        if "set" in numbers:
            sets[str(numbers["set"])] = (stream, generation)
            modes[str(numbers["set"])] = fields["mode"]
            seen.seen[stream, generation] = set()
    for key, members in keys.items():
        if key.startswith("seen:"):
            uid, _, bucket = key[5:].partition(":")
            if uid in sets:
                seen.seen[sets[uid]] |= _fingerprints(members, modes[uid])
                if modes[uid] == b"compact":
                    _check_bucket(seen.counters[sets[uid]]["buckets"], int(bucket), set(map(int, members)))


def _fingerprints(members: list[bytes], mode: bytes) -> set[int]:
    if mode == b"compact":
        return {int(member) for member in members}
    names = members[::2] if mode == b"window" else members
    return {int.from_bytes(name, "big") for name in names}


def _read_limits(seen: Observation, keys: dict[str, Any]) -> None:
    for key, value in keys.items():
        kind, _, rest = key.partition(":")
        if kind == "used":
            seen.used |= {name.decode(): struct.unpack("<4d", raw)[0] for name, raw in _pairs(value)}
        elif kind == "pages":
            seen.pages |= {(rest, host.decode()): struct.unpack("<2I", raw) for host, raw in _pairs(value)}


def _check_bucket(buckets: int, bucket: int, fingerprints: set[int]) -> None:
    """Linear hashing: a fingerprint is in the bucket of its low bits, or of one bit less while that is not split."""
    span = 1 << (buckets.bit_length() - 1)
    for fingerprint in fingerprints:
        low = fingerprint % (2 * span)
        assert bucket == (low if low < buckets else low - span), f"{fingerprint} is in the wrong bucket"
