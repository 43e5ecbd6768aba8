"""Starting, sharing and stopping the bundled servers, with real processes and kill -9."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.embedded import joining
from crawler.embedded.processes import PROC, Process
from crawler.embedded.service import VALKEY
from crawler.embedded.supervisor import POLL_SECONDS
from demo.state import any_port
from tests.integration.embedded.users import User, client, eventually, said, server

Use = Callable[..., User]


def test_processes_that_start_at_once_share_one_server(use: Use, data_dir: Path) -> None:
    users = [use() for _ in range(5)]
    urls = {user.url() for user in users}
    assert len(urls) == 1
    with client(urls.pop()) as redis:
        assert redis.info("server")["process_id"] == server(data_dir).pid


def test_only_the_server_that_is_asked_for_starts(use: Use, data_dir: Path) -> None:
    assert use().answer() == {"redis": f"redis://127.0.0.1:{said(data_dir).port}/0", "mongodb": ""}
    assert not (data_dir / "mongodb").exists()


def test_the_server_has_the_settings_of_the_design(use: Use) -> None:
    with client(use().url()) as redis:
        assert redis.config_get("appendonly", "appendfsync", "maxmemory-policy", "save", "bind") == {
            "appendonly": "yes",
            "appendfsync": "everysec",
            "maxmemory-policy": "noeviction",
            "save": "",
            "bind": "127.0.0.1",
        }
        assert redis.config_get("zset-max-listpack-value") == {"zset-max-listpack-value": "512"}
        assert redis.config_get("set-max-intset-entries") == {"set-max-intset-entries": "2048"}


def test_it_stops_with_its_last_user_and_keeps_the_data(use: Use, data_dir: Path) -> None:
    first, second = use(), use()
    with client(first.url()) as redis:
        redis.set("kept", "yes")
    second.url()
    first.close()
    time.sleep(3)  # longer than the grace time: the second user still holds it
    running = server(data_dir)
    assert running.alive
    second.kill()
    assert eventually(lambda: not running.alive and not said(data_dir).supervised)
    assert b"User requested shutdown" in (data_dir / "redis" / "server.log").read_bytes()
    with client(use().url()) as redis:
        assert redis.get("kept") == "yes"


def test_a_killed_user_does_not_keep_it_through_its_children(use: Use, data_dir: Path) -> None:
    user = use(child=True)
    user.url()
    running = server(data_dir)
    user.kill()
    assert eventually(lambda: not running.alive)


def test_a_killed_server_is_back_on_its_port_with_its_data(use: Use, data_dir: Path) -> None:
    url = use().url()
    with client(url) as redis:
        redis.set("kept", "yes")
    killed = server(data_dir)
    killed.send(signal.SIGKILL)
    assert eventually(lambda: (now := said(data_dir)).state == "ready" and now.server != killed)
    with client(url) as redis:
        assert redis.get("kept") == "yes"


def test_a_killed_supervisor_takes_its_server_along_and_the_next_user_brings_both_back(
    use: Use, data_dir: Path
) -> None:
    url = use().url()
    supervisor, orphan = said(data_dir).supervisor, server(data_dir)
    supervisor.send(signal.SIGKILL)
    assert eventually(lambda: not orphan.alive)
    assert use().url() == url
    assert said(data_dir).supervisor != supervisor


def test_a_supervisor_that_was_frozen_goes_on(use: Use, data_dir: Path) -> None:
    """As with its machine: it waited for a signal then, and none came in time."""
    use().url()
    before, supervisor = server(data_dir), said(data_dir).supervisor
    for _ in range(3):
        supervisor.send(signal.SIGSTOP)
        time.sleep(2 * POLL_SECONDS)
        supervisor.send(signal.SIGCONT)
        time.sleep(POLL_SECONDS / 2)
    before.send(signal.SIGKILL)
    assert eventually(lambda: server(data_dir) != before and said(data_dir).state == "ready")
    assert said(data_dir).supervisor == supervisor


def test_a_killed_supervisor_is_brought_back_by_who_uses_the_server(use: Use, data_dir: Path) -> None:
    """A crawl that runs alone would wait for ever."""
    url = use().url()
    supervisor = said(data_dir).supervisor
    supervisor.send(signal.SIGKILL)
    assert eventually(lambda: said(data_dir).supervisor.pid != supervisor.pid and said(data_dir).state == "ready")
    with client(url) as redis:
        assert redis.ping()


def test_a_server_that_gave_up_is_started_again_once_it_can_be(use: Use, data_dir: Path) -> None:
    """A full disk does that to mongod: a worker had none for the rest of its life, whatever room was made."""
    url = use(again_seconds=0.5).url()
    manifest = data_dir / "redis" / "data" / "appendonlydir" / "appendonly.aof.manifest"
    kept = manifest.read_text()
    manifest.write_text("nonsense\n")
    server(data_dir).send(signal.SIGKILL)
    assert eventually(lambda: said(data_dir).state == "failed" and not said(data_dir).supervised)
    manifest.write_text(kept)
    assert eventually(lambda: said(data_dir).state == "ready" and said(data_dir).supervised)
    with client(url) as redis:
        assert redis.ping()


def test_a_server_that_was_told_to_stop_is_not_brought_back(use: Use, data_dir: Path) -> None:
    use().url()
    supervisor = said(data_dir).supervisor
    supervisor.send(signal.SIGTERM)
    assert eventually(lambda: not supervisor.alive)
    time.sleep(3 * joining.WATCH_SECONDS)
    assert (said(data_dir).supervisor, said(data_dir).state) == (supervisor, "stopping")


def test_after_kill_9_of_everything_the_old_record_is_not_believed(use: Use, data_dir: Path) -> None:
    user = use()
    user.url()
    user.kill()
    killed = server(data_dir)
    said(data_dir).supervisor.send(signal.SIGKILL)
    assert eventually(lambda: not killed.alive)
    assert said(data_dir).state == "ready"
    with client(use().url()) as redis:
        assert redis.ping()


def test_who_comes_while_it_shuts_down_gets_a_new_server(use: Use, data_dir: Path) -> None:
    user = use()
    user.url()
    user.close()
    leaving = said(data_dir).supervisor
    assert eventually(lambda: said(data_dir).state == "stopping")
    with client(use().url()) as redis:
        assert redis.ping()
    assert said(data_dir).supervisor != leaving


def test_who_comes_after_the_directory_was_deleted_is_left_alone_by_the_old_supervisor(
    use: Use, data_dir: Path
) -> None:
    first = use()
    first.url()
    old = said(data_dir).supervisor
    first.kill()
    shutil.rmtree(data_dir / "redis")
    url = use().url()
    assert eventually(lambda: not old.alive)
    assert said(data_dir).state == "ready"
    assert use().url() == url


def test_a_server_whose_directory_was_deleted_is_not_started_in_the_new_one(use: Use, data_dir: Path) -> None:
    use().url()
    old = said(data_dir)
    shutil.rmtree(data_dir / "redis")
    url = use().url()
    new = said(data_dir)
    assert old.server is not None
    old.server.send(signal.SIGKILL)
    assert eventually(lambda: not old.supervisor.alive)
    assert said(data_dir) == new
    assert _working_in(data_dir / "redis" / "data") == [new.server]
    with client(url) as redis:
        assert redis.ping()


def test_ctrl_c_in_the_terminal_spares_the_server(use: Use, data_dir: Path) -> None:
    user = use()
    user.url()
    running = server(data_dir)
    assert os.getsid(running.pid) != os.getsid(user.process.pid)


def test_valkey_runs_on_the_allocator_it_is_given(use: Use, data_dir: Path) -> None:
    use().url()
    assert "libmimalloc" in Path(f"/proc/{server(data_dir).pid}/maps").read_text()


def test_a_taken_port_is_left_to_its_owner(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "_joined", {})
    with socket.socket() as owner:
        owner.bind(("127.0.0.1", 0))
        owner.listen()
        taken = owner.getsockname()[1]
        member = joining.enter(replace(VALKEY, preferred_port=taken), data_dir, preferred_port=True)
        with client(member.wait()) as redis:
            assert redis.ping()
        assert said(data_dir).port != taken


def test_a_free_preferred_port_is_used(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "_joined", {})
    free = any_port()
    member = joining.enter(replace(VALKEY, preferred_port=free), data_dir, preferred_port=True)
    assert member.wait() == f"redis://127.0.0.1:{free}/0"


def _working_in(directory: Path) -> list[Process]:
    found = (Process.of(int(entry.name)) for entry in PROC.iterdir() if entry.name.isdigit())
    return [process for process in found if process.works_in(directory)]
