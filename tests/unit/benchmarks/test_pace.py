"""What `make bench-pace` measures."""

from __future__ import annotations

import pytest

from benchmarks import document, pace


def test_words_that_no_case_has_are_refused_and_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[object] = []
    monkeypatch.setattr(document, "write", lambda *given: written.append(given))
    monkeypatch.setattr("sys.argv", ["pace", "--only", "limit 7"])
    with pytest.raises(SystemExit, match="2"):
        pace.main()
    assert "no case has 'limit 7' in its name" in capsys.readouterr().err
    assert written == []
