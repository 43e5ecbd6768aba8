"""How `scrapy reparse` shares its work."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from crawler.commands import reparse
from crawler.commands.reparse import sensible_workers
from crawler.commands.terminal import PlainConsole
from crawler.commands.views.reparse_report import ReparseReport, show
from crawler.replay import counts

WORKER = """
import json, signal
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
print(json.dumps({"done": 1}), flush=True)
while not asked: signal.pause()
print(json.dumps({"report": {"stats": {"PAGES": 3}, "examples": {}}}))
""".replace("PAGES", counts.PAGES)


@pytest.mark.parametrize(
    ("pages", "cores", "workers"),
    [(1, 8, 1), (999, 8, 1), (1_000, 8, 2), (1_000, 1, 1), (100_000, 2, 2), (100_000, 64, 4)],
)
def test_there_is_a_worker_for_each_core_and_enough_pages_for_each_worker(pages: int, cores: int, workers: int) -> None:
    assert sensible_workers(pages, cores) == workers


def test_a_reparse_that_is_cut_short_says_what_was_done(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    worker = subprocess.Popen([sys.executable, "-c", WORKER], stdout=subprocess.PIPE)

    def said(line: bytes) -> dict[str, Any]:
        if "done" in (found := json.loads(line)):
            raise KeyboardInterrupt
        return dict(found)

    monkeypatch.setattr(reparse, "_start", lambda *_: worker)
    monkeypatch.setattr(reparse, "_said", said)
    with worker:
        report = reparse.run([{}], 10, str(tmp_path))
    assert (report.cut, report.left, report.failed) == (True, 7, 0)
    show(PlainConsole(file=(shown := io.StringIO())), report, dry_run=False)
    assert "3 pages parsed again" in shown.getvalue()
    assert "cut short: 7 pages left" in shown.getvalue()


def test_one_of_a_kind_is_told_as_one() -> None:
    report = ReparseReport(Counter({counts.PAGES: 1, counts.DAMAGED: 1, counts.FAILED: 1}))
    show(PlainConsole(file=(shown := io.StringIO())), report, dry_run=False)
    assert [line.partition(":")[0] for line in shown.getvalue().splitlines()][1:] == [
        "1 item failed",
        "1 page damaged in the archive",
    ]
