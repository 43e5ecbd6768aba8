"""Workers under one supervisor: small programs in the place of crawls."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawler.supervision import local_fleet, worker_process
from crawler.supervision.children import spawn
from crawler.supervision.display import Display
from crawler.supervision.local_fleet import INTERRUPTED, MOST_DEATHS, STEADY_PAGES, LocalFleet

HEAD = """
import json, os, pathlib, signal, sys, time
told = json.loads(sys.argv[-1].partition("=")[2])
here = pathlib.Path(sys.argv[1])
with (here / "began").open("a") as began:
    began.write(f"{told['number']}\\n")
times = (here / "began").read_text().split().count(str(told["number"]))
def report(reason="", **counts):
    line = {"counts": counts, "endpoint": f"http://{told['number']}", "reason": reason}
    os.write(told["reports"], json.dumps(line).encode() + b"\\n")
"""


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs that many processes of a program; returns exit status, output, and which workers started."""
    monkeypatch.setattr(local_fleet, "BACKOFF_SECONDS", 0.01)

    def run(workers: int, program: str, meanwhile: Callable[[LocalFleet], None] = lambda _: None) -> tuple[int, str]:
        script = tmp_path / "program.py"
        script.write_text(HEAD + program)
        stream = io.BytesIO()
        monkeypatch.setattr(
            worker_process,
            "spawn",
            lambda command, **how: spawn([sys.executable, "-IS", str(script), *command[3:]], **how),
        )
        made = LocalFleet([str(tmp_path)], workers, {"after": "1"}, Display(stream, "plain", log_is_here=False))
        beside = threading.Thread(target=meanwhile, args=(made,))
        beside.start()
        status = made.run()
        beside.join()
        return status, stream.getvalue().decode()

    return run


def began(path: Path) -> list[str]:
    return (path / "began").read_text().split()


def test_all_end_by_themselves(fleet: Callable[..., Any], tmp_path: Path) -> None:
    status, shown = fleet(3, "print('a word', file=sys.stderr); report(reason='finished', pages=5, items=2)")
    assert status == 0
    assert sorted(began(tmp_path)) == ["1", "2", "3"]
    assert began(tmp_path)[0] == "1"
    assert shown.count("a word\n") == 3
    assert shown.splitlines()[-1].endswith("3 workers ended (finished): 15 pages, 6 items")
    assert max(map(len, shown.splitlines())) < 80


def test_one_that_is_killed_begins_again_and_what_it_counted_stays(fleet: Callable[..., Any], tmp_path: Path) -> None:
    program = """
report(pages=7)
if told["number"] == 2 and times == 1:
    os.kill(os.getpid(), signal.SIGKILL)
report(reason="finished", pages=10)
"""
    status, shown = fleet(2, program)
    assert status == 0
    assert sorted(began(tmp_path)) == ["1", "2", "2"]
    assert "worker 2 was killed by SIGKILL: restarting in 0.01 s" in shown
    assert "27 pages" in shown


@pytest.mark.parametrize(
    ("blocked", "words"),
    [
        ("os.write(told['reports'], b'{\"stuck\": \"parse has blocked the event loop\"}\\n')", "parse has blocked"),
        (
            'os.write(told[\'reports\'], b\'{"counts": {"pages": 7}, "silence": 0.05}\\n\')',
            "it has told nothing for 0 s",
        ),
    ],
)
def test_one_that_is_stuck_is_killed_and_begins_again(
    fleet: Callable[..., Any], tmp_path: Path, blocked: str, words: str
) -> None:
    """Whether a thread of its still tells so, or a C call keeps all of them quiet."""
    program = f"""
report(pages=7)
if told["number"] == 2 and times == 1:
    {blocked}
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(60)
report(reason="finished", pages=10)
"""
    status, shown = fleet(2, program)
    assert status == 0
    assert sorted(began(tmp_path)) == ["1", "2", "2"]
    assert shown.count("worker 2 was stuck") == 1
    assert words in shown
    assert "27 pages" in shown


def test_a_crash_loop_ends_all(fleet: Callable[..., Any], tmp_path: Path) -> None:
    program = """
report()
if told["number"] == 2:
    sys.exit(7)
signal.signal(signal.SIGTERM, lambda *_: (report(pages=1), sys.exit(1)))
time.sleep(60)
"""
    status, shown = fleet(2, program)
    assert status == 1
    assert began(tmp_path).count("2") == MOST_DEATHS
    assert began(tmp_path).count("1") == 1, "however it ended, it does not begin again"
    assert f"worker 2 ended with status 7, {MOST_DEATHS} times in a row" in shown
    assert "1 page," in shown


@pytest.mark.parametrize(
    ("program", "status", "starts"),
    [
        ("sys.exit(2)", 2, 1),  # settings that it refuses
        ("sys.exit(3)", 3, 1),  # an error of the spider, which it has logged
        ("report(reason='finished'); sys.exit(1)", 1, 2),  # to its end, but not all is well
        ("report(reason='frontier_error'); sys.exit(1)", 1, None),
        ("report(); sys.exit(2 * (times == 1) )", 0, 4),  # a server that was away for a moment
    ],
)
def test_who_begins_again_and_what_the_worst_status_is(
    fleet: Callable[..., Any], tmp_path: Path, program: str, status: int, starts: int | None
) -> None:
    assert fleet(2, program)[0] == status
    assert starts is None or len(began(tmp_path)) == starts


def test_one_that_does_much_before_each_death_goes_on(fleet: Callable[..., Any], tmp_path: Path) -> None:
    program = f"report(pages={STEADY_PAGES}); sys.exit(7 * (times <= {MOST_DEATHS}))"
    assert fleet(1, program)[0] == 0
    assert len(began(tmp_path)) == MOST_DEATHS + 1


def test_what_a_worker_has_logged_is_not_said_again(fleet: Callable[..., Any]) -> None:
    assert "giving up" not in fleet(2, "sys.exit(2)")[1]


def test_a_line_without_an_end_blocks_nobody(fleet: Callable[..., Any]) -> None:
    length = 5 * worker_process.MOST_AT_ONCE
    status, shown = fleet(1, f"sys.stderr.write('x' * {length}); report(reason='finished')")
    assert (status, shown.count("x")) == (0, length)
    assert "1 worker ended (finished): 0 pages" in shown


WAITING = """
signal.signal(signal.SIGTERM, lambda *_: {deaf} or (report(reason="shutdown"), sys.exit(0)))
report()
time.sleep(60)
"""


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_all_to_end(fleet: Callable[..., Any], number: signal.Signals) -> None:
    def ask(made: LocalFleet) -> None:
        until(lambda: all(made.endpoints().get(worker) for worker in "12"))
        os.kill(os.getpid(), number)

    status, shown = fleet(2, WAITING.format(deaf=False), ask)
    assert status == 0
    assert "2 workers ended (shutdown)" in shown
    assert "restarting" not in shown


def test_one_that_is_asked_to_end_while_it_starts_has_not_failed(fleet: Callable[..., Any], tmp_path: Path) -> None:
    def ask(made: LocalFleet) -> None:
        until((tmp_path / "began").exists)
        os.kill(os.getpid(), signal.SIGTERM)

    assert fleet(2, "time.sleep(60)", ask)[0] == 0


def test_the_second_signal_kills(fleet: Callable[..., Any]) -> None:
    def ask(made: LocalFleet) -> None:
        until(lambda: all(made.endpoints().get(worker) for worker in "12"))
        os.kill(os.getpid(), signal.SIGINT)
        until(lambda: made._heard == 1)
        os.kill(os.getpid(), signal.SIGINT)

    status, shown = fleet(2, WAITING.format(deaf=True), ask)
    assert status == INTERRUPTED
    assert "2 workers ended (stopped)" in shown


def test_a_child_does_not_outlive_its_parent(tmp_path: Path) -> None:
    program = """
import subprocess, sys
from crawler.supervision.children import spawn
child = spawn([sys.executable, "-c", "import time; time.sleep(60)"], stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
sys.stdin.read()
"""
    import subprocess

    parent = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    until(lambda: not Path(f"/proc/{child}").exists() or "\nState:\tZ" in Path(f"/proc/{child}/status").read_text())


def test_what_a_worker_is_told(fleet: Callable[..., Any], tmp_path: Path) -> None:
    fleet(1, "(here / 'told').write_text(json.dumps([sys.argv[1:-1], told])); report(reason='finished')")
    arguments, told = json.loads((tmp_path / "told").read_text())
    assert arguments == [str(tmp_path), "-s"]
    assert told == {"after": "1", "number": 1, "reports": told["reports"]}
