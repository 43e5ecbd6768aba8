"""The demo's memory: the next day after a finished crawl, the same day after one cut short."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

from demo.state import State, any_port, directory_of, free_port, is_free


def test_there_is_no_state_before_the_first_run(tmp_path: Path) -> None:
    assert State.load(tmp_path) is None


def test_is_kept_between_runs(tmp_path: Path) -> None:
    State(8123, day=3, crawled=True).save(tmp_path / "new")
    assert State.load(tmp_path / "new") == State(8123, day=3, crawled=True)


def test_the_next_day_comes_only_after_a_finished_crawl() -> None:
    assert State(8123, day=2, crawled=True).next_run() == State(8123, day=3)
    assert State(8123, day=2).next_run() == State(8123, day=2)
    assert State(8123, 2, crawled=True, run="20261122-1").next_run() == State(8123, 3, before="20261122-1")


def test_other_shops_never_meet_the_data(tmp_path: Path) -> None:
    assert directory_of(tmp_path, {"a": 1, "b": 2}) == directory_of(tmp_path, {"b": 2, "a": 1})
    assert directory_of(tmp_path, {"a": 1}) != directory_of(tmp_path, {"a": 2})


def test_a_port_in_use_on_one_address_is_not_free() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.3", 0))
        listener.listen()
        taken = listener.getsockname()[1]

        assert not is_free(taken)
        assert free_port(taken) > taken


def test_no_two_are_given_the_same_port_before_either_listens() -> None:
    first = any_port()
    # It tries ours before those behind it, of which other tests may have some.
    ask = f"ports = iter(range({first}, {first} + 1_000)); state.secrets.choice = lambda _: next(ports)"
    program = f"from demo import state; {ask}; print(state.any_port())"
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(other.stdout) > first
    assert is_free(first)
