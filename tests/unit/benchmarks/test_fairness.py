"""The fairness benchmarks: what their figures mean, what misses a bar, and that the proxy delays."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import bed, fairness_crowd, fairness_latency, fairness_many, fairness_sick, fairness_tarpit
from benchmarks.bed import Span
from benchmarks.crawl import SHOAL, STOCK
from benchmarks.delaying_proxy import Distance, pump
from benchmarks.fairness_crowd import Finish
from benchmarks.fairness_latency import FAR, NEAR, Found, Pair
from benchmarks.waiting_site import Record
from crawler.errors import ServiceError
from tests.servers import missing


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(bed, "DOCUMENT", tmp_path / "fairness.md")
    return tmp_path / "fairness.md"


def tarpits(beside: float) -> dict[str, list[fairness_tarpit.Figures]]:
    ours = fairness_tarpit.Figures(alone=60, beside=beside, sent=32, buffered=20, lost=0, charged=0)
    stock = fairness_tarpit.Figures(alone=40, beside=10, sent=32, buffered=8, lost=40, charged=0)
    return {SHOAL: [ours], STOCK: [stock]}


def test_others_must_keep_their_share_beside_tarpits(written: Path) -> None:
    assert fairness_tarpit.publish(tarpits(30)) == []
    assert "| Shoal | 60.0 | 30.0 | 0.50 | 32 | 20 | 0 | 0 |" in written.read_text()
    assert "| scrapy-redis | 40.0 | 10.0 | 0.25 | 32 | 8 | 0 | 40 |" in written.read_text()

    assert "Medians of 1 round of each" in written.read_text()

    assert len(fairness_tarpit.publish(tarpits(24))) == 1


@pytest.mark.parametrize(
    ("bad", "line"),
    [
        ({"charged": 1}, "tarpit: buffered requests that were charged a delivery: 1"),
        ({"lost": 2}, "tarpit: requests that were lost: 2"),
    ],
)
def test_what_one_round_of_three_loses_or_charges_is_not_hidden_by_the_median(bad: dict[str, int], line: str) -> None:
    found = tarpits(30)
    found[SHOAL] += [replace(found[SHOAL][0], **bad), found[SHOAL][0]]
    assert fairness_tarpit.publish(found) == [line]


def test_a_far_redis_is_compared_pair_by_pair(written: Path) -> None:
    ours = [Pair(100, 95), Pair(10, 9.5), Pair(1000, 100)]
    found = Found({SHOAL: ours, STOCK: [Pair(100, 50)]}, near_ms=0.1, far_ms=1.1)

    assert fairness_latency.publish(found, 3) == []
    assert "| Shoal | 100 | 95 | 0.95 |" in written.read_text()

    found.pairs[SHOAL] = [Pair(100, 89)]
    assert len(fairness_latency.publish(found, 3)) == 1


def test_a_giant_may_not_hold_up_the_crowd(written: Path) -> None:
    found = {(who, beside): [Finish(10, 1.0)] for who in (SHOAL, STOCK) for beside in (False, True)}
    found[STOCK, True] = [Finish(15, 0.2)]

    assert fairness_crowd.publish(found) == []
    assert "| Shoal | 10.0 | 10.0 | 1.00 | 100% |" in written.read_text()
    assert "| scrapy-redis | 10.0 | 15.0 | not done | 20% |" in written.read_text()

    for slow in (Finish(11.5, 1.0), Finish(10, 0.99)):
        found[SHOAL, True] = [slow]
        assert len(fairness_crowd.publish(found)) == 1

    # One round of three that does not come to its end, though it is alone: the others would hide it.
    found[SHOAL, True] = [Finish(10, 1.0)] * 3
    found[SHOAL, False] = [Finish(10, 1.0), Finish(10, 0.9), Finish(10, 1.0)]
    assert fairness_crowd.publish(found) == ["crowd: 90.0% of the pages of the 100 hosts were done in 120 s"]


def test_the_healthy_may_not_suffer_from_the_sick_and_these_are_left_alone(written: Path) -> None:
    def found(beside: float, early: int) -> dict[str, list[fairness_sick.Figures]]:
        ours = fairness_sick.Figures(alone=60, beside=beside, refused=40, early=early)
        return {SHOAL: [ours], STOCK: [fairness_sick.Figures(alone=40, beside=20, refused=400, early=360)]}

    assert fairness_sick.publish(found(58, 0)) == []
    assert "| Shoal | 60.0 | 58.0 | 0.97 | 40 | 0 |" in written.read_text()
    assert "| scrapy-redis | 40.0 | 20.0 | 0.50 | 400 | 360 |" in written.read_text()

    assert len(fairness_sick.publish(found(56, 0))) == 1
    assert len(fairness_sick.publish(found(58, 1))) == 1


def test_the_site_knows_who_comes_early(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, record = iter((100.0, 101.0, 105.9, 106.0, 106.0)), Record()
    monkeypatch.setattr("benchmarks.waiting_site.time", SimpleNamespace(monotonic=lambda: next(clock)))
    record.request("a", "/0/1/sick")
    record.refuse("a")
    record.request("a", "/0/1/sick")
    record.request("a", "/0/1/sick")
    record.request("b", "/0/1")
    assert record.counts == {"a": 3, "b": 1}
    assert record.early.total() == record.early["a"] == 1


@pytest.fixture
def through_the_proxy() -> Iterator[tuple[socket.socket, socket.socket, Distance]]:
    ours, near = socket.socketpair()
    far, theirs = socket.socketpair()
    distance = Distance(0.05)
    thread = threading.Thread(target=pump, args=(near, far, distance), daemon=True)
    thread.start()
    with theirs, near, far:
        with ours:
            yield ours, theirs, distance
        thread.join()


def test_the_proxy_holds_back_what_it_is_told_to(
    through_the_proxy: tuple[socket.socket, socket.socket, Distance],
) -> None:
    ours, theirs, distance = through_the_proxy
    theirs.settimeout(60)

    ours.sendall(b"near")
    assert theirs.recv(10) == b"near"

    distance.switch(FAR, None)
    began = time.monotonic()
    ours.sendall(b"far")
    assert theirs.recv(10) == b"far"
    assert time.monotonic() - began >= 0.05

    distance.switch(NEAR, None)
    assert distance.seconds == 0


def test_many_hosts_are_held_against_what_politeness_allows(written: Path) -> None:
    case = fairness_many.Case(4, 3, 5.0)
    spans = {
        "a": Span(3, 100, 110, 5.0),
        "b": Span(3, 100, 112.5, 4.95),  # as early as a busy machine may note it
        "c": Span(3, 100, 120, 4.0),
        "d": Span(2, 100, 105, 5.0),
    }
    one = fairness_many.paces(case, spans, 20)
    assert (one.done, one.middle, one.slowest, one.early) == (11 / 12, 0.8, 0.5, 1)

    good = replace(one, done=1.0, middle=0.95, early=0)
    assert fairness_many.publish({(case, SHOAL): [good], (case, STOCK): [one]}) == []
    assert "| Shoal | 4 | 5 s | 100% | 0.95 | 0.50 | 0 |" in written.read_text()
    for bad in (one, replace(good, middle=0.8), replace(good, done=0.9), replace(good, early=1)):
        assert fairness_many.publish({(case, SHOAL): [bad]})
    assert fairness_many.publish({(case, SHOAL): [good, replace(good, done=0.9), good]})


def test_many_hosts_for_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bed, "HOME", tmp_path)
    monkeypatch.setattr(fairness_many, "WORKERS", 1)
    monkeypatch.setattr(fairness_many, "PATIENCE", 60)
    try:
        found = fairness_many.round_of(SHOAL, fairness_many.Case(40, 3, 0.3))
    except ServiceError as error:
        missing(error)
    assert (found.done, found.early) == (1.0, 0)
    assert 0 < found.slowest <= found.middle < 1.5
