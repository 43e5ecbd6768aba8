"""Runs before every command: Scrapy loads this package before it reads the command line.

`shoal_checkout.dist-info` names the commands as entry points, all but one those of shoal.py, which load on use: a
command takes two thirds of the time that all of them take. The one is here, so that this is loaded, even if
SCRAPY_PROJECT names no project, when Scrapy knows no settings.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType

from scrapy.utils.conf import closest_scrapy_cfg, get_config

from shoal import Lazy


class Services(Lazy):
    """`scrapy services`, loaded on use."""

    name = "services"


def _say_shortly(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Ctrl-C before the command runs ends the process without a traceback, and so does `scrapy --help | head`."""
    if issubclass(kind, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt):  # in a class body
        print("interrupted", file=sys.stderr)
    elif issubclass(kind, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what Python writes when it exits
    else:
        _shown(kind, error, trace)


def _check_project() -> None:
    """Exit with one line if SCRAPY_PROJECT names no project of the scrapy.cfg in use."""
    given = os.environ  # noqa: TID251 - Scrapy's own variables, read before there are settings
    if "SCRAPY_PROJECT" not in given or "SCRAPY_SETTINGS_MODULE" in given or not (found := closest_scrapy_cfg()):
        return
    projects = get_config()["settings"] if get_config().has_section("settings") else {}
    print(f"SCRAPY_PROJECT = {given['SCRAPY_PROJECT']!r}: {found} has {', '.join(projects) or 'none'}", file=sys.stderr)
    raise SystemExit(2)


_shown, sys.excepthook = sys.excepthook, _say_shortly
_check_project()
