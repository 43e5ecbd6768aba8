"""Names to addresses: asked once, remembered for a while, and only what may be dialled."""

from __future__ import annotations

import asyncio
import errno
import re
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from ipaddress import ip_address
from unittest.mock import Mock

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError

from crawler.errors import AddressRefusedError, ConfigError
from crawler.handlers.resolver import Resolver, ResolverConfig
from crawler.policy.address_guard import Address, AddressPolicy
from crawler.policy.endings.shortages import shortage
from crawler.utils.lookups import LookupThreads
from tests.shipped import shipped

CONFIG = ResolverConfig(seconds=60, size=2, timeout=20, threads=1)
NAMES = {
    "shop.example": ["93.184.216.34", "2606:2800::1"],
    "mixed.example": ["10.0.0.5", "93.184.216.34", "::1"],
    "inside.example": ["169.254.169.254", "127.0.0.1"],
    "other.example": ["93.184.216.35"],
    "empty.example": [],
}


class Names:
    """A name server whose answers and time a test sets."""

    def __init__(self) -> None:
        self.answers = dict(NAMES)
        self.asked: list[str] = []
        self.time = 0.0
        self.wait = 0.0

    async def __call__(self, host: str) -> list[Address]:
        self.asked.append(host)
        await asyncio.sleep(self.wait)
        if host not in self.answers:
            raise socket.gaierror(-2, "Name or service not known")
        return [ip_address(text) for text in self.answers[host]]

    def clock(self) -> float:
        return self.time


@pytest.fixture
def names() -> Names:
    return Names()


@pytest.fixture
def resolver(names: Names) -> Resolver:
    return Resolver(AddressPolicy(), CONFIG, names, names.clock)


async def test_only_what_may_be_dialled_is_returned(resolver: Resolver) -> None:
    assert await resolver.resolve("shop.example") == ["93.184.216.34", "2606:2800::1"]
    assert await resolver.resolve("mixed.example") == ["93.184.216.34"]


@pytest.mark.parametrize("host", ["inside.example", "127.0.0.1", "0x7f.1", "2130706433", "::1", "169.254.169.254"])
async def test_a_host_inside_is_refused_with_reason_and_remedy(resolver: Resolver, host: str) -> None:
    with pytest.raises(AddressRefusedError, match=r"\((loopback|cloud metadata)\).*GUARD_ALLOWED_NETWORKS"):
        await resolver.resolve(host)


async def test_what_the_operator_configured_is_not_judged(resolver: Resolver) -> None:
    assert await resolver.resolve("inside.example", trusted=True) == NAMES["inside.example"]
    with pytest.raises(AddressRefusedError):
        await resolver.resolve("inside.example")


@pytest.mark.parametrize("host", ["nowhere.example", "empty.example", "256.0.0.1", "a" * 300, "[::g]"])
async def test_what_cannot_be_resolved_says_which_host(resolver: Resolver, host: str) -> None:
    with pytest.raises(CannotResolveHostError) as raised:
        await resolver.resolve(host)
    assert host.strip("[]")[:20] in str(raised.value)


async def test_of_a_name_with_thousands_of_addresses_a_few_are_kept(names: Names, resolver: Resolver) -> None:
    """An answer may have 64 KB, and a zone may answer so for any name."""
    many = [str(ip_address("93.184.0.0") + number) for number in range(4_000)]
    names.answers["many.example"] = [*many, "10.0.0.5"]
    assert await resolver.resolve("many.example") == many[:32]
    with pytest.raises(AddressRefusedError, match=re.escape("10.0.0.5")):  # the last one is not overlooked
        await resolver.check("many.example", resolving=True)
    assert sum(len(addresses) for _, addresses in resolver._known.values()) == 33
    names.answers["late.example"] = [*(f"10.0.{number}.1" for number in range(200)), many[0]]
    assert await resolver.resolve("late.example") == many[:1]


async def test_a_silent_name_server_is_not_waited_for(names: Names) -> None:
    names.wait = 3_600
    resolver = Resolver(AddressPolicy(), replace(CONFIG, timeout=0.05), names)
    with pytest.raises(CannotResolveHostError, match="DNS_TIMEOUT"):
        await resolver.resolve("shop.example")


async def test_an_answer_is_believed_for_its_time_only(names: Names, resolver: Resolver) -> None:
    await resolver.resolve("shop.example")
    names.answers["shop.example"] = ["127.0.0.1"]  # rebinding: the resolved address is the one that is dialled
    names.time = 59.9
    assert await resolver.resolve("shop.example") == NAMES["shop.example"]
    names.time = 60
    with pytest.raises(AddressRefusedError):
        await resolver.resolve("shop.example")
    assert names.asked == ["shop.example"] * 2


async def test_the_oldest_name_is_forgotten_first(names: Names, resolver: Resolver) -> None:
    for host in ("shop.example", "mixed.example", "other.example", "mixed.example", "shop.example"):
        await resolver.resolve(host)
    assert names.asked == ["shop.example", "mixed.example", "other.example", "shop.example"]


async def test_many_wait_for_one_answer_and_one_may_give_up(names: Names, resolver: Resolver) -> None:
    names.wait = 0.02
    impatient = asyncio.ensure_future(resolver.resolve("shop.example"))
    others = [asyncio.ensure_future(resolver.resolve("shop.example")) for _ in range(5)]
    await asyncio.sleep(0)
    impatient.cancel()
    assert await asyncio.gather(*others) == [NAMES["shop.example"]] * 5
    assert names.asked == ["shop.example"]


async def test_a_failure_is_not_remembered(names: Names, resolver: Resolver) -> None:
    with pytest.raises(CannotResolveHostError):
        await resolver.resolve("late.example")
    names.answers["late.example"] = ["93.184.216.36"]
    assert await resolver.resolve("late.example") == ["93.184.216.36"]


async def test_a_process_without_free_files_blames_no_name_server(
    resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system says "Invalid argument" then, or whatever its last error was."""

    async def invalid(host: str) -> list[Address]:
        raise OSError(errno.EINVAL, "Invalid argument")

    def full(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(resolver, "_lookup", invalid)
    with pytest.raises(CannotResolveHostError, match="Invalid argument") as caught:
        await resolver.resolve("shop.example")
    assert shortage(caught.value) == ""
    monkeypatch.setattr("crawler.handlers.resolver.socket.socket", full)
    with pytest.raises(CannotResolveHostError, match="Too many open files") as caught:
        await resolver.resolve("shop.example")
    monkeypatch.undo()
    assert "ulimit -n" in shortage(caught.value)


async def test_the_systems_resolver_is_asked_off_the_loop() -> None:
    resolver = Resolver(AddressPolicy.from_settings({"GUARD_ALLOWED_NETWORKS": "127.0.0.0/8,::1/128"}), CONFIG)
    assert set(await resolver.resolve("localhost")) <= {"127.0.0.1", "::1"}
    resolver.close()
    guarded = Resolver(AddressPolicy(), CONFIG)
    with pytest.raises(AddressRefusedError, match=r"localhost resolves to .* \(loopback\)"):
        await guarded.resolve("localhost")
    for literal in ("127.0.0.1", "[::1]"):
        with pytest.raises(AddressRefusedError, match=r"^\S+ \(loopback\) is not the public internet; an operator "):
            await guarded.resolve(literal)
    guarded.close()


def test_all_handlers_of_a_worker_share_one() -> None:
    settings = shipped("settings.test")
    worker, other = Crawler(Spider, settings), Crawler(Spider, settings)
    shared = Resolver.of(worker)
    assert Resolver.of(worker) is shared is not Resolver.of(other)
    for _ in range(2):
        shared.close()


async def test_names_whose_servers_hang_hold_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()

    def ask(host: str) -> list[Address]:
        if host != "shop.example":
            answered.wait(60)
        return [ip_address("93.184.216.34")]

    monkeypatch.setattr("crawler.handlers.resolver._getaddrinfo", ask)
    settings = shipped(CONCURRENT_REQUESTS=16)
    resolver = Resolver.from_settings(settings)
    slow = [asyncio.ensure_future(resolver.resolve(f"slow{number}.example")) for number in range(15)]
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(30):
            assert await resolver.resolve("shop.example") == ["93.184.216.34"]
        assert not any(one.done() for one in slow)
    finally:
        answered.set()
        await asyncio.gather(*slow)
        resolver.close()


@pytest.mark.parametrize(
    ("name", "value"),
    [("DNSCACHE_SIZE", "many"), ("REACTOR_THREADPOOL_MAXSIZE", 0)],
)
def test_a_setting_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    settings = shipped(**{name: value})
    with pytest.raises(ConfigError, match=name):
        Resolver.from_settings(settings)


async def test_look_ups_share_a_bounded_number_of_threads() -> None:
    threads = LookupThreads(3)
    running, most = 0, 0
    lock = threading.Lock()

    def ask(host: str) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        released.wait(30)
        with lock:
            running -= 1
        if host == "bad":
            raise OSError(host)
        return host.upper()

    released = threading.Event()
    asked = [asyncio.ensure_future(threads.run(ask, host)) for host in ("a", "b", "bad", "c", "d", "e")]
    while running < 3:  # noqa: ASYNC110 - threads
        await asyncio.sleep(0.005)
    released.set()
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert [answer for answer in answers if isinstance(answer, str)] == ["A", "B", "C", "D", "E"]
    assert isinstance(answers[2], OSError)
    assert most == 3
    assert await threads.run(ask, "again") == "AGAIN"
    threads.close()
    with pytest.raises(RuntimeError, match="after close"):
        await threads.run(ask, "late")


async def test_threads_that_the_system_did_not_start_are_not_counted() -> None:
    threads = LookupThreads(2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
        for _ in range(2):
            with pytest.raises(RuntimeError, match="can't start"):
                await threads.run(str.upper, "lost")
    async with asyncio.timeout(30):
        assert await threads.run(str.upper, "a") == "A"
    threads.close()


async def test_what_was_not_begun_is_cancelled_at_the_end() -> None:
    threads, began, released = LookupThreads(1), threading.Event(), threading.Event()

    def hang(_: str) -> bool:
        began.set()
        return released.wait(30)

    hanging, waiting = (asyncio.ensure_future(threads.run(hang, "a")) for _ in range(2))
    assert await asyncio.to_thread(began.wait, 30)
    threads.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    released.set()
    assert await hanging


def test_a_look_up_that_hangs_does_not_keep_the_process_alive() -> None:
    program = (
        "import asyncio, contextlib, time\n"
        "from crawler.handlers import resolver\n"
        "from crawler.policy.address_guard import AddressPolicy\n"
        "resolver._getaddrinfo = lambda host: time.sleep(120)\n"
        "config = resolver.ResolverConfig(seconds=60, size=2, timeout=0.2, threads=4)\n"
        "async def main():\n"
        "    asked = resolver.Resolver(AddressPolicy(), config)\n"
        "    with contextlib.suppress(Exception):\n"
        "        await asked.resolve('hangs.example')\n"
        "    asked.close()\n"
        "asyncio.run(main())\n"
        "print('over')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.returncode) == ("over\n", 0), done.stderr
