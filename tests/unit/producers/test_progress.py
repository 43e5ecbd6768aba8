"""A push says on its line how far it is."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from crawler.producers import progress


@pytest.mark.parametrize(("lines", "told"), [(1, "1 line, "), (2_000, "2,000 lines, ")])
def test_lines_are_counted_as_a_person_counts(lines: int, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(progress, "Console", lambda **_: Console(file=out, force_terminal=True, width=80))
    with progress.PushProgress(["https://shop.example/"]) as bar:
        bar.advance(lines, 0)
    assert told in out.getvalue()
    erased = "\x1b[1A\x1b[2K"
    assert out.getvalue().endswith(erased), "no bar of 0 lines is left above an error, nor any above the summary"
