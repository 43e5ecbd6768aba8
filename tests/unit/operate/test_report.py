"""What `make operate` says of its parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.operate import __main__ as operate
from tests.operate import report
from tests.operate.__main__ import Part, run
from tests.operate.load import Told
from tests.operate.redis_failover import pushed_wrong


def test_a_part_that_fails_or_cannot_run_is_told_and_the_next_one_goes_on() -> None:
    def missing() -> Told:
        pytest.skip("mongod is not here")

    def failing() -> Told:
        raise AssertionError("it never came to hold")

    def breaking() -> Told:
        raise ConnectionError("no primary")

    def demanded() -> Told:
        pytest.fail("promtool is not installed")

    part = Part("", 60, scenarios=(missing, failing, breaking, demanded, lambda: Told({"lost": "1"}, ["lost: /a"])))
    outcome = run("some", part)
    assert outcome.skipped == ["mongod is not here"]
    told = ["AssertionError: it never came to hold", "ConnectionError: no primary", "Failed: promtool is not installed"]
    assert outcome.wrong == [*told, "lost: /a"]
    assert report.lines(outcome)[0].startswith("some: 4 things were wrong, ")


@pytest.mark.parametrize(
    ("last", "skipped"), [("2 passed, 1 skipped in 0.31s", ["1 skipped of the_test.py"]), ("3 passed in 0.31s", [])]
)
def test_tests_that_are_skipped_do_not_hold(last: str, skipped: list[str]) -> None:
    outcome = run("some", Part("", 60, commands=(("-c", f"print({last!r})", "the_test.py"),)))
    assert (outcome.wrong, outcome.skipped) == ([], skipped)
    assert ("All of it held" in report.lines(outcome)[0]) == (not skipped)


def test_commands_are_told_apart_by_how_they_end(monkeypatch: pytest.MonkeyPatch) -> None:
    without = "import pytest; pytest.skip('promtool is not installed')"
    outcome = run(
        "some", Part("", 60, commands=(("-c", "print('fine')"), ("-c", without), ("-c", "print(1); exit(1)")))
    )
    assert outcome.skipped == ["promtool is not installed"]
    assert outcome.wrong == ["-c print(1); exit(1)\n1"]
    endless = run("some", Part("", 0.1, commands=(("-c", "import time; time.sleep(60)"),)))
    assert "given up after 1 s" in endless.wrong[0]


def test_figures_of_failovers_are_written_twice_unless_something_was_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPERATE", "PRODUCTION"):
        monkeypatch.setattr(report, name, tmp_path / name)
    outcome = run("redis", Part("About it.", 60, scenarios=(lambda: Told({"lost": "0", "fetched twice": "3"}),)))
    report.write([outcome])
    for file in (report.OPERATE, report.PRODUCTION):
        assert "| 0 | 3 |" in file.read_text()
    assert "All of it held" in report.OPERATE.read_text()
    outcome.told[0].row["fetched twice"], outcome.wrong = "4", ["something"]
    report.write([outcome])
    assert "| 0 | 4 |" in report.OPERATE.read_text()
    assert "| 0 | 3 |" in report.PRODUCTION.read_text()


def test_all_parts_have_a_limit_and_something_to_do() -> None:
    for part in operate.PARTS.values():
        assert part.about
        assert 0 < part.limit < 1_000
        assert part.commands or part.scenarios


def test_a_failover_without_any_push_shows_nothing() -> None:
    assert pushed_wrong(90, 0, 0.0) == pushed_wrong(90, 7, 0.5) == []
    assert pushed_wrong(90, 7, 0.0) == ["7 pushed URLs are lost"]
    assert pushed_wrong(0, 0, 0.0) == pushed_wrong(0, 0, 0.5) == ["no pushed URL was accepted"]
