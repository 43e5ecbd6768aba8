"""Where the servers that tests share have their data."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from crawler.embedded import record
from tests import memory


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(memory, "ROOM_BYTES", 0)
    return tmp_path


def test_what_killed_runs_have_left_goes_and_what_others_use_stays(place: Path) -> None:
    (place / f"{memory.PREFIX}left" / "data").mkdir(parents=True)
    (place / "others").mkdir()
    used = memory.take(place)
    taken = memory.take(place)
    assert {*place.iterdir()} == {used, place / "others", taken}
    assert used != taken


def test_without_room_there_is_no_directory(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "ROOM_BYTES", shutil.disk_usage(place).total + 1)
    assert memory.take(place) is None
    assert memory.take(place / "nowhere") is None
    assert not [*place.iterdir()]


def test_it_is_given_to_workers(place: Path) -> None:
    assert memory.given({}) is None
    assert memory.given({memory.VARIABLE: str(place)}) == place


def test_it_goes_after_its_servers(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mongod whose files are deleted under its feet leaves a core behind."""
    (home := place / "mongodb").mkdir()
    (home / "service.json").touch()
    looks = iter([True, True, False])
    monkeypatch.setattr(memory, "_is_served", lambda _: home.exists() and next(looks))
    memory.give_back(place)
    assert not place.exists()
    assert not [*looks]


def test_servers_of_all_workers_are_there(redis_url: str, mongodb_uri: str) -> None:
    if (given := memory.given()) is None:
        pytest.skip("no room in memory, or one process alone")
    said = [record.read(home) for home in (given / os.environ["PYTEST_XDIST_WORKER"] / "redis", given / "mongodb")]
    ports = [one.port for one in said if one]
    assert [f":{port}/" in url for port, url in zip(ports, (redis_url, mongodb_uri), strict=True)] == [True, True]
