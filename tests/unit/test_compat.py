"""What `make compat` makes of a run of Scrapy's tests."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from compat import __main__ as compat


def test_a_run_that_was_cut_short_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it did not run cannot fail."""
    report = tmp_path / "report.xml"
    monkeypatch.setattr(compat, "ensure", lambda *_, **__: SimpleNamespace(redis_url="redis://127.0.0.1:1"))
    for status in (0, 1, 2, 3, -9):

        def ended(*_: object, status: int = status, **__: object) -> subprocess.CompletedProcess[bytes]:
            report.write_text("<testsuites/>")
            return subprocess.CompletedProcess([], status)

        monkeypatch.setattr(subprocess, "run", ended)
        if status in {0, 1}:
            compat.run((), report)
        else:
            with pytest.raises(SystemExit, match=f"did not come to its end: status {status}"):
                compat.run((), report)
