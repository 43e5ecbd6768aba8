"""Standard streams that a command may rely on, whatever it was started with."""

from __future__ import annotations

import io
import os
import sys


def make_sure() -> None:
    """Give closed standard streams (`>&-`) a place where what is printed goes nowhere.

    Else `print` shows on standard output what is for standard error, and a pipe or socket with the number of either
    gets what is written there.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() not in {"utf-8", "utf8"}:
        sys.stdout.reconfigure(errors="backslashreplace")  # a listing goes on at a title that it cannot show


def print_nothing_more() -> None:
    """Python writes what is left when it exits, and would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
