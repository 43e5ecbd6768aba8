"""Child processes: shielded from Ctrl-C, ended in order, and never left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

STOP_SECONDS: Final = 30.0
_PR_SET_PDEATHSIG: Final = 1
_prctl: Final = getattr(ctypes.CDLL(None), "prctl", None)  # Linux only; looked up before any fork


def spawn(command: Sequence[str], **streams: Any) -> subprocess.Popen[bytes]:
    """Run *command* in its own session; *streams* are Popen's.

    Call it in the main thread. On Linux the kernel ends the child however this process ends; elsewhere a parent killed
    with -9 leaves it behind, unless it notices that itself.
    """
    guard = partial(die_with, os.getpid()) if _prctl is not None else None
    return subprocess.Popen(command, start_new_session=True, preexec_fn=guard, **streams)  # noqa: S603, PLW1509


def python_module(module: str, directory: object) -> list[str]:
    """The command line of `python -m` *module* with *directory* searched right behind the standard library, which
    packages there may hide (`typing` of PyPI), also under PYTHONSAFEPATH; the working directory is not searched."""
    program = (
        "import sys; sys.path = [path for path in sys.path if path]; "
        "packages = (place for place, path in enumerate(sys.path) if path.endswith('-packages')); "
        f"sys.path.insert(next(packages, len(sys.path)), {str(directory)!r}); "
        f"import runpy; runpy.run_module({module!r}, None, '__main__')"
    )
    return [sys.executable, "-c", program]


def stop(processes: Sequence[subprocess.Popen[bytes]], seconds: float = STOP_SECONDS) -> list[subprocess.Popen[bytes]]:
    """SIGTERM to all, then SIGKILL to those (returned) that did not end in *seconds*."""
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + seconds
    stubborn = [process for process in processes if not _ends(process, max(0.0, deadline - time.monotonic()))]
    kill(stubborn)
    return stubborn


def kill(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """SIGKILL to each running child and everything in its session; returns when they have ended."""
    running = [process for process in processes if process.poll() is None]
    for process in running:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    for process in running:
        process.wait()


def _ends(process: subprocess.Popen[bytes], seconds: float) -> bool:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.returncode is not None


def die_with(parent: int) -> None:
    """The kernel ends this process however *parent* ends; Linux only. Runs in the child before its program: system
    calls only."""
    assert _prctl is not None
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before the kernel was told
        os._exit(1)
