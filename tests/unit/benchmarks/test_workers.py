"""The bar of `make bench-workers`: two workers store nearly twice what one stores.

It is measured where nothing else runs, never beside other tests.
"""

from __future__ import annotations

import pytest

from benchmarks import workers

ONE = [(100.0, 9.0), (90.0, 9.5), (400.0, 9.2)]


@pytest.mark.parametrize(("second", "status"), [(181.0, 0), (179.0, 1)])
def test_the_gain_of_medians_is_held_against_the_bar(
    second: float, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {1: ONE, 2: [(second, 20.0), (10.0, 19.0), (999.0, 21.0)]}
    monkeypatch.setattr(workers, "too_few_cores", lambda: "")
    monkeypatch.setattr(workers, "measure", lambda *_: found)
    assert workers.gain(found) == second / 100
    assert workers.main(["--no-write"]) == status
    assert f"{second / 100:.2f}" in capsys.readouterr().out


def test_too_few_cores_are_no_figure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(workers, "usable_cores", lambda: 4)
    monkeypatch.setattr(workers, "measure", pytest.fail)
    assert workers.main([]) == 0
    assert "skipped: it takes 5 cores" in capsys.readouterr().out
