"""The proxy layer's settings, and the pools file as it changes."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from scrapy.settings import Settings

from crawler import config
from crawler.errors import ConfigError
from crawler.policy.rules.domains import parse_rules
from crawler.proxies.pools import PoolSource, ProxyConfig
from tests.shipped import shipped

GOOD = '[homes]\nproxies = ["http://u:hidden@a:1"]\n'
RULES = parse_rules('["a.example"]\nproxy_pool = "homes"')


def settings(**changed: Any) -> Settings:
    return shipped(**changed)


def source(path: Path, **changed: Any) -> PoolSource:
    return PoolSource(ProxyConfig.from_settings(settings(PROXY_POOLS_FILE=str(path), **changed)), RULES)


def names(pools: PoolSource) -> list[str]:
    return [one.name for one in pools.get("homes").endpoints]


def write(path: Path, text: str, age: int = 0) -> None:
    path.write_text(text)
    os.utime(path, (age, age))


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("PROXY_POOL", "No Name", "a pool name"),
        ("PROXY_QUARANTINE_MAX_SECONDS", 1, "at least PROXY_QUARANTINE_SECONDS"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name: str, value: object, allowed: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ProxyConfig.from_settings(settings(**{name: value}))
    assert name in str(refused.value)
    assert allowed in str(refused.value)


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"PROXY_POOLS_FILE": "/nowhere/pools.toml"}, "PROXY_POOLS_FILE = '/nowhere/pools.toml' is invalid"),
        ({}, "DOMAINS_FILE: [a.example] proxy_pool = 'homes' is invalid: expected no pool: none is configured"),
        ({"PROXY_POOLS": {"x": {"proxies": ["http://a:1"]}}}, "expected one of the pools x"),
        ({"PROXY_POOLS": {"homes": {"proxies": ["http://a:1"]}}, "PROXY_POOL": "x"}, "PROXY_POOL = 'x'"),
        (
            {"PROXY_POOLS": {"homes": {"proxies": ["http://a:1", "http://u:hidden%E2%82%AC@b:1"]}}},
            "[homes] proxies, number 2 = '...' is invalid: expected credentials in latin-1 (HTTPPROXY_AUTH_ENCODING)",
        ),
        ({"HTTPPROXY_AUTH_ENCODING": "hidden"}, "HTTPPROXY_AUTH_ENCODING = 'hidden' is invalid"),
        ({"HTTPPROXY_AUTH_ENCODING": 5}, "HTTPPROXY_AUTH_ENCODING = '...' is invalid: expected text"),
    ],
)
def test_what_cannot_work_is_refused_at_the_start(changed: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError) as refused:
        PoolSource(ProxyConfig.from_settings(settings(**changed)), RULES)
    assert complaint in str(refused.value)


def test_a_pool_stands_in_one_place_only(tmp_path: Path) -> None:
    write(tmp_path / "pools.toml", GOOD)
    with pytest.raises(ConfigError, match="a name that is not in PROXY_POOLS as well"):
        source(tmp_path / "pools.toml", PROXY_POOLS={"homes": {"proxies": ["http://b:1"]}})


async def test_a_changed_file_counts_and_a_broken_one_is_refused_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "pools.toml"
    write(path, GOOD)
    pools = source(path)
    for age, text in enumerate(
        (GOOD.replace("a:1", "b:1"), "[homes]\nproxies = 'hidden", "[other]\nproxies = ['http://c:1']"), 1
    ):
        write(path, text, age)
        for _ in range(3):
            await pools.refresh()
    path.unlink()
    for _ in range(3):
        await pools.refresh()
    assert names(pools) == ["b:1"], "the last good one stays"
    refused = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert len(refused) == 3
    assert "pools.toml = 'at line 2'" in refused[0] or "valid TOML" in refused[0]
    assert "proxy_pool = 'homes' is invalid: expected one of the pools other" in refused[1]
    assert "No such file" in refused[2]
    assert "hidden" not in caplog.text
    write(path, GOOD, 9)
    for _ in range(2):
        await pools.refresh()
    assert names(pools) == ["a:1"]
    with pytest.raises(ConfigError, match=r"proxy_pool = 'x' is invalid: expected one of the pools homes"):
        pools.get("x")


async def test_a_file_being_written_is_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Emptied, then half written, then whole, each seen once; the last also at rest."""
    caplog.set_level(logging.INFO)
    path = tmp_path / "pools.toml"
    write(path, GOOD)
    pools = source(path)
    new = GOOD.replace("a:1", "b:1")
    for age, text in enumerate(("", new[:20], new), 1):
        write(path, text, age)
        await pools.refresh()
        assert names(pools) == ["a:1"]
    for _ in range(3):
        await pools.refresh()
    assert names(pools) == ["b:1"]
    assert [record.getMessage() for record in caplog.records] == ["Proxy pools reloaded: homes"]


async def test_a_mounted_secret_is_followed_when_kubernetes_changes_it(tmp_path: Path) -> None:
    """The file is a link through another one, which is replaced: a new folder, perhaps of the same second and size."""
    for folder, text in (("old", GOOD), ("new", GOOD.replace("a:1", "b:1"))):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "proxies.toml", text)
    (tmp_path / "..data").symlink_to("old")
    (tmp_path / "proxies.toml").symlink_to("..data/proxies.toml")
    pools = source(tmp_path / "proxies.toml")
    (tmp_path / "..data_tmp").symlink_to("new")
    (tmp_path / "..data_tmp").rename(tmp_path / "..data")
    for _ in range(2):
        await pools.refresh()
    assert names(pools) == ["b:1"]


async def test_a_file_emptied_while_it_is_read_is_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pools.toml"
    write(path, GOOD)
    pools = source(path)
    write(path, GOOD.replace("a:1", "b:1"), 1)
    await pools.refresh()
    read = config.text_file

    def emptied(name: str, file: str) -> str:
        write(path, "", 2)
        return read(name, file)

    with monkeypatch.context() as patched:
        patched.setattr(config, "text_file", emptied)
        await pools.refresh()
    assert names(pools) == ["a:1"]
    assert caplog.records == []
    write(path, GOOD.replace("a:1", "c:1"), 3)
    for _ in range(2):
        await pools.refresh()
    assert names(pools) == ["c:1"]


async def test_a_pipe_in_the_files_place_is_refused_and_holds_nothing_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "pools.toml"
    write(path, GOOD)
    pools = source(path)
    path.unlink()
    os.mkfifo(path)
    for _ in range(3):
        await asyncio.wait_for(pools.refresh(), 30)
    assert names(pools) == ["a:1"]
    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        f"PROXY_POOLS_FILE = {str(path)!r} is invalid: expected a file: a pipe is read at the start only"
    ]


async def test_a_pipe_may_bring_the_pools_at_the_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "pools.toml"
    os.mkfifo(path)
    writing = Thread(target=path.write_text, args=(GOOD,))
    writing.start()
    pools = source(path)
    writing.join()
    for _ in range(3):
        await asyncio.wait_for(pools.refresh(), 30)
    assert names(pools) == ["a:1"]
    assert caplog.records == []


def test_what_no_encoding_can_send_is_taken_in_another() -> None:
    encoded = settings(HTTPPROXY_AUTH_ENCODING="utf-8", PROXY_POOLS={"homes": {"proxies": ["http://u:%E2%82%AC@b:1"]}})
    assert names(PoolSource(ProxyConfig.from_settings(encoded), RULES)) == ["b:1"]
