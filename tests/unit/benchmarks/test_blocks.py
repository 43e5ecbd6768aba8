"""The measurement of block detection, on a folder written here."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from benchmarks.blocks import judge, labelled, real
from tests.unit.policy.blocks.block_pages import page


def test_a_folder_is_judged_under_both_statuses(tmp_path: Path) -> None:
    bodies = {
        "known.html": page("", '<div id="px-captcha"></div>'),
        "other.html": page("Robot or human?", "<h1>Robot or human?</h1>"),
        "unknown.html": page("Sorry", "<p>No.</p>"),
        "page.html": page("A lamp", "<p>Of steel.</p>"),
        "alike.html": page("Robot or human?", "<h1>Robot or human?</h1>"),
    }
    vendors = {"known.html": "perimeterx", "other.html": "akamai", "unknown.html": "akamai"}
    for name, body in bodies.items():
        (tmp_path / name).write_text(body)
    labels = [{"file": name, "vendor": vendors.get(name), "status": 200} for name in bodies]
    labels[0]["status"] = 403
    (tmp_path / "labels.json").write_text(json.dumps(labels))
    result = judge(labelled(tmp_path))
    assert (result.blocks, result.pages) == (4, 2)
    assert result.missed == ["unknown.html (200)"]
    assert result.mistaken == ["other.html (200): perimeterx for akamai"]
    assert result.false == ["alike.html (200): perimeterx"]
    assert (result.recall, result.false_per_1000, result.good) == (0.75, 500.0, False)


def test_real_pages_may_be_compressed(tmp_path: Path) -> None:
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "a.html.gz").write_bytes(gzip.compress(page("A lamp", "<p>Of steel.</p>").encode()))
    result = judge(real(tmp_path))
    assert (result.pages, result.false, result.good) == (2, [], True)
