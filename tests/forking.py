"""The workers of `scrapy reparse` in the zygote's forks: forks themselves, without the seconds of loading."""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import subprocess
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

from crawler.commands import reparse
from crawler.replay import __main__ as replay
from crawler.supervision import children

UNTIL_READY = (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)


def fork_reparse_workers() -> None:
    """From here on, in this process and its children. `test_reparse.py` starts one as a person does, too."""
    patch.object(reparse, "spawn", spawn).start()


def spawn(command: Sequence[str], **streams: Any) -> subprocess.Popen[bytes]:
    """As children.spawn; *command* is that of crawler.replay, which takes its job from standard input alone."""
    assert "crawler.replay" in command[-1]
    parent = os.getpid()

    def become() -> NoReturn:
        children.die_with(parent)
        _leave_pipes()
        os._exit(_run())

    return subprocess.Popen(command, start_new_session=True, preexec_fn=become, **streams)  # noqa: PLW1509


def _leave_pipes() -> None:
    """Those that a new program would not have: Popen waits until its own are closed. All else belongs to objects that
    this process has from its parent, and stays."""
    for entry in list(Path("/proc/self/fd").iterdir()):
        file = int(entry.name)
        try:
            shared = file <= 2 or not fcntl.fcntl(file, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
            if not shared and stat.S_ISFIFO(os.fstat(file).st_mode):
                os.close(file)
        except OSError:  # what listed the directory
            continue


def _run() -> int:
    """The exit status."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in UNTIL_READY:
        signal.signal(number, signal.SIG_DFL)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, closefd=False)  # noqa: SIM115 - until the end
        for number, mode in enumerate("rww")
    )
    try:
        return replay.main()
    except BaseException:  # noqa: BLE001 - as the interpreter would show it
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
