"""What `make bench-pace` measures."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

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


LIMIT = pace.Case("limit 5", 5, None, 8, 1)
PAIR = pace.Case("two fleets", 20, None, 8, fleets=2)
CALM = pace.Case("no refusals", delay=0.1)
BLOCKED = pace.Case("5 % block pages", delay=0.1, noise=0.05, status=403)
ONLY = pace.Case("only 429", delay=0.1, noise=1.0)
GOOD: dict[pace.Case, pace.Told] = {
    LIMIT: [(4.3, 0.02)],
    PAIR: [(6.5, 0.1), (11.0, 0.2)],
    CALM: [(8.0, 0.0)],
    BLOCKED: [(6.5, 0.05)],
    ONLY: [(0.0, 1.0)],
}


@pytest.mark.parametrize(
    ("case", "told", "line"),
    [
        (LIMIT, [(4.2, 0.0)], "limit 5, cap 8, 1 worker: 4.20 good pages a second, at least 4.25 are wanted"),
        (LIMIT, [(4.5, 0.04)], "limit 5, cap 8, 1 worker: 4.0% are refused, at most 3% are wanted"),
        (PAIR, [(5.0, 0.0), (13.0, 0.0)], "two fleets, cap 8, 1 worker: 5.00 good pages a second for one"),
        (PAIR, [(7.0, 0.0), (8.0, 0.0)], "two fleets, cap 8, 1 worker: 15.00 good pages a second"),
        (BLOCKED, [(6.3, 0.05)], "5 % block pages, cap 1, 1 worker: 6.30 good pages a second, at least 6.40"),
    ],
)
def test_what_a_site_allows_has_to_be_found(case: pace.Case, told: pace.Told, line: str) -> None:
    assert list(pace.missed(GOOD)) == []
    (found,) = pace.missed(GOOD | {case: told})
    assert found.startswith(line)


@pytest.mark.parametrize(("told", "status"), [([(4.3, 0.0)], 0), ([(1.0, 0.0)], 1)], ids=["met", "missed"])
def test_a_bar_that_is_missed_is_the_exit_status_and_the_table_is_written(
    told: pace.Told,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def measured(*_: object) -> dict[pace.Case, pace.Told]:
        return {LIMIT: told}

    monkeypatch.setattr(pace, "DOCUMENT", tmp_path / "pace.md")
    monkeypatch.setattr(pace, "cases", lambda short: [LIMIT])
    monkeypatch.setattr(pace, "measure_all", measured)
    monkeypatch.setattr(pace, "ensure", lambda *_, **__: SimpleNamespace(redis_url="redis://127.0.0.1:1"))
    monkeypatch.setattr("sys.argv", ["pace"])
    assert pace.main() == status
    assert ("at least 4.25 are wanted" in capsys.readouterr().err) == bool(status)
    assert f"| limit 5 | 8 | 1 | {told[0][0]:.2f} | 0.0% |" in (tmp_path / "pace.md").read_text()
