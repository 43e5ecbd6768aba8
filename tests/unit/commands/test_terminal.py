"""How commands end, as a person sees it."""

from __future__ import annotations

import asyncio
import errno
import gc
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.exceptions import UsageError

from crawler.commands.export import _target
from crawler.commands.terminal import INTERRUPTED, TERMINATED, agreed, answering, console
from crawler.errors import ShoalError
from crawler.utils import tasks
from settings.base import PROJECT_DIR


def test_what_is_wrong_becomes_a_usage_error_of_one_line() -> None:
    with pytest.raises(UsageError, match=r"^mend this$"), answering([]):
        raise ShoalError("mend this")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("can't start new thread"), "may start no more threads"),
        (OSError(errno.EMFILE, "Too many open files"), "may open no more files"),
        (OSError(errno.EMFILE, "Too many open files", "urls.txt"), "may open no more files"),
    ],
)
def test_what_the_machine_lacks_is_one_line(error: Exception, words: str) -> None:
    with pytest.raises(UsageError, match=words), answering([]):
        raise error


def test_any_other_error_is_shown_as_it_is() -> None:
    with pytest.raises(RuntimeError, match=r"^a fault$"), answering([]):
        raise RuntimeError("a fault")


def test_an_option_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no option --jsn"), answering(["products", "--jsn"]):
        raise AssertionError("was run")


def test_a_long_option_is_not_repeated_whole() -> None:
    with (
        pytest.raises(UsageError, match=r"-x{199}\.\.\.x{100} \(10001 characters\): see --help"),
        answering(["-" + "x" * 10_000]),
    ):
        raise AssertionError("was run")


def test_an_argument_that_is_empty_names_no_spider() -> None:
    with pytest.raises(UsageError, match=r"^an argument is empty: "), answering(["drop", ""]):
        raise AssertionError("dropped the letters of all spiders")


def test_a_dash_stands_for_standard_input() -> None:
    ran = []
    with answering(["products", "-"]):
        ran.append("products")
    assert ran == ["products"]


def test_ctrl_c_is_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, answering([]):
        raise KeyboardInterrupt
    assert ended.value.code == INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


@pytest.fixture
def terminable() -> Iterator[None]:
    """SIGTERM as a process begins with it."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    assert signal.signal(signal.SIGTERM, before) == signal.SIG_DFL


@pytest.mark.usefixtures("interruptible", "terminable")
@pytest.mark.parametrize("ctrl_c", [signal.default_int_handler, signal.SIG_IGN], ids=["heard", "ignored"])
def test_sigterm_ends_the_work_as_ctrl_c_does(ctrl_c: Any, capsys: pytest.CaptureFixture[str]) -> None:
    signal.signal(signal.SIGINT, ctrl_c)
    put_away: list[str] = []

    async def work() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
            await asyncio.sleep(60)
        finally:
            put_away.append("files")

    with pytest.raises(SystemExit) as ended, answering([]):
        tasks.run(work())
    assert ended.value.code == TERMINATED
    assert capsys.readouterr().err == "terminated\n"
    assert put_away == ["files"]


@pytest.mark.usefixtures("terminable")
def test_sigterm_is_left_to_whoever_listens() -> None:
    heard: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    with answering([]):
        signal.raise_signal(signal.SIGTERM)
    assert heard == [signal.SIGTERM]
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def test_bytes_that_are_no_text_are_shown() -> None:
    with pytest.raises(UsageError, match=r"'a\\udcff' cannot be written in utf-8"), answering([]):
        "a\udcff".encode()


@pytest.mark.parametrize("printing", ["print('x\\n' * 999)", "console().print('x\\n' * 999)"])
def test_a_reader_who_has_seen_enough_is_no_error(printing: str) -> None:
    script = (
        "from crawler.commands.terminal import answering, console\n"
        f"with answering([]):\n    for _ in range(100): {printing}\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=PROJECT_DIR, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
@pytest.mark.parametrize("printing", [print, console().print], ids=["print", "console"])
def test_an_output_that_is_full_is_one_line(printing: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(UsageError, match=r"^standard output cannot be written: No space left"), answering([]):
            printing("unheard")


def test_without_an_output_what_is_printed_goes_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with answering([]):
        print("unheard")
        console().print("unheard, too")
        assert sys.stdout.name == os.devnull
    sys.stdout.close()


@pytest.mark.parametrize(
    ("closed", "shown"), [("2>&-", "told\n"), (">&-", "warned\n"), ("<&- >&- 2>&-", "")], ids=["2", "1", "all"]
)
def test_what_is_closed_takes_nothing_and_its_number_is_nobody_elses(closed: str, shown: str) -> None:
    script = (
        "import os, sys\n"
        "from crawler.commands.terminal import answering\n"
        "with answering([]):\n"
        "    print('told')\n"
        "    print('warned', file=sys.stderr)\n"
        "    sys.exit(min(os.pipe()) <= 2)\n"
    )
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", script],
        cwd=PROJECT_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, shown)


def test_nobody_is_asked_where_there_is_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="There is no terminal to ask on"):
        agreed("Drop all?")


def test_what_an_old_terminal_cannot_show_is_escaped_but_exported_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    with answering([]):
        print("5 €")
        with _target(None) as target:
            target.write("5 €")
    assert raw.getvalue() == b"5 \\u20ac\n" + "5 €".encode()


@pytest.mark.usefixtures("interruptible")
def test_the_first_ctrl_c_ends_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = []

    def interrupted(prompt: str) -> str:
        signal.raise_signal(signal.SIGINT)  # while it waits; an event loop's handler lets it wait on
        answered.append(prompt)
        return "y"

    async def ask() -> bool:
        return agreed("Drop all?")

    monkeypatch.setattr("builtins.input", interrupted)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        tasks.run(ask())
    assert (answered, signal.getsignal(signal.SIGINT)) == ([], signal.default_int_handler)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_d_at_a_question_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def ended(prompt: str) -> str:
        raise EOFError

    async def ask() -> bool:
        return agreed("Drop all?")

    monkeypatch.setattr("builtins.input", ended)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    gc.collect()  # what earlier tests have left is told now
    caplog.clear()
    capsys.readouterr()
    with pytest.raises(SystemExit, match=str(INTERRUPTED)), answering([]):
        tasks.run(ask())
    gc.collect()
    assert capsys.readouterr().err == "interrupted\n"
    assert caplog.text == ""


def test_ctrl_d_where_ctrl_c_is_ignored_is_no(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", ended)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert not agreed("Drop all?")
    finally:
        signal.signal(signal.SIGINT, before)
