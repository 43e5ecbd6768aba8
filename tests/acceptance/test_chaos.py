"""`make chaos` in short: four workers, some killed or frozen, Redis killed twice, MongoDB twice; and its five parts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("zygote")  # the workers are forked from it, too
def test_nothing_is_lost_doubled_or_sent_too_early(tmp_path: Path) -> None:
    size = [
        "--hosts",
        "12",
        "--pages",
        "40",
        "--delay",
        "0.2",
        "--kills",
        "4",
        "--freezes",
        "1",
        "--fatal",
        "0",
        "--lease",
        "3",
    ]
    size += ["--mongo-kills", "1", "--fills", "1", "--empties", "1", "--rules", "1", "--old", "1", "--olders", "1"]
    given = ["--caps", "4", "--home", str(tmp_path), "--no-write", "--forked", "--limit", "540", *size]
    run = subprocess.run(
        [sys.executable, "-m", "tests.chaos", *given],
        cwd=PROJECT, capture_output=True, text=True, timeout=580, check=False,
    )  # fmt: skip

    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(r"^chaos: 0 violations, seed \d+$", run.stdout, re.MULTILINE)
    assert "workers killed with -9: 5" in run.stdout
    assert re.search(r"MongoDB killed with -9: [12]$", run.stdout, re.MULTILINE)
    assert "times that Redis was full: 1" in run.stdout
    assert "times that Redis was emptied, and filled again: 1" in run.stdout
    assert "pages stored: 480" in run.stdout
    assert "times that it went back to an older state, and was filled again: 1" in run.stdout
    redis = ("memory full", "Redis emptied, and filled again", "Redis set back, and filled again")
    parts = (*redis, "an old and a new release", "rules changed")
    assert [part for part in parts if f"part {part}: held" not in run.stdout] == []
