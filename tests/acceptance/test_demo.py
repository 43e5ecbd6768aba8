"""`make demo` as a person sees it, small: real servers, two real workers, one of them killed midway.

Its second day, whose processes start as those of the first, is one of forks, for a fifth of what their starts cost.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from demo import catalogue
from demo.__main__ import main
from demo.state import State
from tests.zygote import PROJECT_DIR, Zygote

SIZE = 20
PRODUCTS = SIZE * len(catalogue.STORES)
COMMAND = [sys.executable, "-m", "demo"]


def sized(root: Path, *options: str) -> list[str]:
    port = str(12_000 + os.getpid() % 4_000)  # below those of `any_port`: the same one is free on the second day, too
    return ["--root", str(root), "--size", str(SIZE), "--port", port, "--limit", "400", *options]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_days_of_the_demo_lose_nothing_and_duplicate_nothing(tmp_path: Path, zygote: Zygote) -> None:
    first = subprocess.run(
        [*COMMAND, *sized(tmp_path)], cwd=PROJECT_DIR, capture_output=True, text=True, timeout=420, check=False
    )

    assert first.stdout.splitlines()[-1] == f"demo: {PRODUCTS} products stored, 0 lost, 0 duplicated", (
        first.stdout + first.stderr
    )
    assert first.returncode == 0, first.stderr
    assert re.search(r"Killed worker-1 \(process \d+\) with -9; worker-3 takes over", first.stdout)

    alone = sized(tmp_path, "--no-kill", "--workers", "1")  # two at once were there on the first day
    environment = os.environ | {"PYTEST_XDIST_TESTRUNUID": zygote.name}
    with closing(zygote.fork(alone, environment, PROJECT_DIR, module="tests.acceptance.forked_demo")) as second:
        shown, words = second.communicate(420)
    changed = len(catalogue.build(size=SIZE, day=2).changed)

    assert shown.splitlines()[-1] == f"demo: {PRODUCTS} products stored, 0 lost, 0 duplicated", shown + words
    assert f"Prices that changed: {changed}" in shown
    assert "Killed" not in shown


@pytest.mark.slow
@pytest.mark.timeout(480)
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_leaves_no_process_behind_and_the_day_is_not_over(tmp_path: Path) -> None:
    long_enough = sized(tmp_path, "--workers", "1", "--size", str(3 * SIZE))  # not over before Ctrl-C is pressed
    demo = subprocess.Popen(
        [*COMMAND, *long_enough], cwd=PROJECT_DIR, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert demo.stdout is not None
    shown = []
    for line in demo.stdout:
        shown.append(line)
        if re.search(r"done +[1-9]", line):
            break
    servers = re.findall(r"\w+://127[^ ;]+", "".join(shown))
    demo.send_signal(signal.SIGINT)
    rest, words = demo.communicate(timeout=420)

    assert demo.returncode == 130, "".join(shown) + rest
    assert words == "demo: stopped; the next run continues this day\n"
    (home,) = tmp_path.iterdir()
    state = State.load(home)
    assert state is not None
    assert (state.day, state.crawled) == (1, False)
    deadline = time.monotonic() + 60  # the servers notice by themselves that they have no users left
    while left := processes_of(str(home), *servers):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def test_a_folder_that_is_none_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(tmp_path), "--pages", str(tmp_path / "nothing")]) == 2
    missing = tmp_path / "nothing" / "truth.json"
    expected = "expected html/*.html.gz and truth.json in the folder"
    assert capsys.readouterr() == ("", f"demo: {missing}: No such file or directory; {expected}\n")


def processes_of(*names: str) -> list[str]:
    """Command lines of living processes that name one of *names*."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has just ended
            continue
        if any(name in text for name in names):
            found.append(text)
    return found
