"""Who owns a spool's files."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from crawler.storage.spool.claims import SUFFIX, Claim

OPEN = Path("/proc/self/fd")


def test_a_worker_that_starts_beside_another_takes_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one looks for what is abandoned just after the lock was made: this one did not start."""
    flock, looked = fcntl.flock, list[Path]()

    def locked_meanwhile(lock: int, how: int) -> None:
        if looked:
            return flock(lock, how)
        looked.extend(tmp_path.glob("*.lock"))
        raise BlockingIOError

    monkeypatch.setattr(fcntl, "flock", locked_meanwhile)
    claim = Claim.new(tmp_path)
    assert len(looked) == 1
    assert claim.owner != looked[0].stem
    claim.hold()
    assert (tmp_path / f"{claim.owner}.lock").exists()
    claim.release()


def test_files_that_cannot_be_listed_now_are_taken_over_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their lock took the last file descriptor, and kept them until this process ended."""
    for owner in ("1-1", "2-2"):
        (tmp_path / f"{owner}-000001{SUFFIX}").touch()
    files = Claim.files

    def listed(claim: Claim) -> list[Path]:
        if claim.owner == "2-2":
            raise OSError(24, "Too many open files")
        return files(claim)

    with monkeypatch.context() as full:
        full.setattr(Claim, "files", listed)
        first = [claim.owner for claim in Claim.abandoned(tmp_path)]
    assert [*first, *(claim.owner for claim in Claim.abandoned(tmp_path))] == ["1-1", "2-2"]


def test_a_lock_that_cannot_be_taken_leaves_no_descriptor_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look for abandoned files would leave one more."""

    def refuses(lock: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    (tmp_path / f"1-1-000001{SUFFIX}").touch()
    before = len(list(OPEN.iterdir()))
    monkeypatch.setattr(fcntl, "flock", refuses)
    assert not list(Claim.abandoned(tmp_path))
    assert len(list(OPEN.iterdir())) == before


def test_a_claim_ends_though_its_directory_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    claim = Claim.new(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "stat", denied)
        claim.release()
    assert [one.owner for one in Claim.abandoned(tmp_path)] == []
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(claim.lock)
