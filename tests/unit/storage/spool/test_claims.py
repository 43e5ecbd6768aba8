"""Who owns a spool's files."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from crawler.storage.spool.claims import Claim


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
