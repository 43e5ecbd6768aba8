"""`make chaos` in short: four workers, some killed or frozen, Redis killed twice, MongoDB twice; and its five parts."""

from __future__ import annotations

import os
import re
from contextlib import closing
from pathlib import Path

import pytest

from tests.zygote import PROJECT_DIR, Zygote


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_is_lost_doubled_or_sent_too_early(tmp_path: Path, zygote: Zygote) -> None:
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
    environment = os.environ | {"PYTEST_XDIST_TESTRUNUID": zygote.name}  # its workers are forks, too
    with closing(zygote.fork(given, environment, PROJECT_DIR, module="tests.chaos")) as run:
        shown, words = run.communicate(580)

    assert run.returncode == 0, shown + words
    assert re.search(r"^chaos: 0 violations, seed \d+$", shown, re.MULTILINE)
    assert "workers killed with -9: 5" in shown
    assert re.search(r"MongoDB killed with -9: [12]$", shown, re.MULTILINE)
    assert "times that Redis was full: 1" in shown
    assert "times that Redis was emptied, and filled again: 1" in shown
    assert "pages stored: 480" in shown
    assert "times that it went back to an older state, and was filled again: 1" in shown
    redis = ("memory full", "Redis emptied, and filled again", "Redis set back, and filled again")
    parts = (*redis, "an old and a new release", "rules changed")
    assert [part for part in parts if f"part {part}: held" not in shown] == []
