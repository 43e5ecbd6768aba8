"""From the last log lines to advice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.embedded import diagnosis


def test_a_missing_library_is_named_with_its_packages() -> None:
    words = "mongod: error while loading shared libraries: libcurl.so.4: cannot open shared object file"
    assert diagnosis.explain(words, Path("/")) == (
        "it needs libcurl.so.4 of OpenSSL 3 or libcurl4 (`apt-get install libssl3 libcurl4`)"
    )


def test_a_nearly_full_disk_is_the_cause_whatever_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=3 * 2**20))
    assert "the disk of /data is full (3 MB free, it needs 16 MB" in diagnosis.explain("", Path("/data"))


def test_mongod_errors_are_picked_from_its_json_lines() -> None:
    lines = [
        {"s": "I", "msg": "started"},
        {"s": "E", "msg": "Failed to set up listener", "attr": {"error": "Address already in use"}},
        {"s": "I", "msg": "Shutting down"},
    ]
    words = "\n".join(map(json.dumps, lines))
    assert diagnosis.explain(words, Path("/")) == "Failed to set up listener Address already in use"


def test_a_fatal_message_of_mongod_is_given_whole() -> None:
    words = json.dumps({"s": "F", "msg": "Writing fatal message", "attr": {"message": "Got signal: 6 (Aborted).\n"}})
    assert diagnosis.explain(words, Path("/")) == "Writing fatal message Got signal: 6 (Aborted)."


def test_a_limit_of_threads_is_named() -> None:
    error = {"error": 11, "message": {"msg": "pthread_create", "error_str": "Resource temporarily unavailable"}}
    words = json.dumps({"s": "E", "msg": "WiredTiger error message", "attr": error})
    assert "no thread is left for it (see `ulimit -u`" in diagnosis.explain(words, Path("/"))
    assert "no thread is left" in diagnosis.explain("[Errno 11] Resource temporarily unavailable", Path("/"))


def test_a_directory_in_use_is_no_limit_of_threads() -> None:
    error = "DBPathInUse: Unable to lock the lock file: /d/mongod.lock (Resource temporarily unavailable)."
    words = json.dumps({"s": "E", "msg": "DBException in initAndListen", "attr": {"error": error}})
    assert diagnosis.explain(words, Path("/")) == f"DBException in initAndListen {error}"


def test_a_directory_that_was_deleted_is_no_second_error(tmp_path: Path) -> None:
    words = f"[Errno 2] No such file or directory: '{tmp_path}/gone/supervisor.log'"
    assert diagnosis.explain(words, tmp_path / "gone") == words


def test_valkey_warnings_are_picked_from_its_notices() -> None:
    words = "7:M 21 Nov 2026 08:00:00.000 * Ready\n7:M 21 Nov 2026 08:00:00.001 # Fatal error, can't open\n"
    assert diagnosis.explain(words, Path("/")) == "7:M 21 Nov 2026 08:00:00.001 # Fatal error, can't open"


def test_advice_about_the_system_is_not_the_reason() -> None:
    fatal = "9:M 22 Nov 2026 21:26:45.900 # Your current 'ulimit -n' of 32 is not enough for the server to start."
    words = f"9:M 22 Nov 2026 21:26:45.899 # WARNING Memory overcommit must be enabled! ...\n{fatal}\n"
    assert diagnosis.explain(words, Path("/")) == fatal


def test_silence_is_said() -> None:
    assert diagnosis.explain("", Path("/")) == "it ended without a log line"


@given(st.text())
def test_any_last_words_give_an_explanation(words: str) -> None:
    assert diagnosis.explain(words, Path("/"))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_any_json_gives_an_explanation(value: object) -> None:
    assert diagnosis.explain(json.dumps({"s": "E", "msg": value, "attr": value}), Path("/"))
