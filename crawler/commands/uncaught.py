"""What a person reads when Scrapy fails before a command runs: a line instead of a traceback.

`make setup` and the Dockerfile copy this module into the environment's packages, as `shoal_uncaught` beside a `.pth`
file that calls `install()`: Python reads that before it loads Scrapy. So nothing of Shoal can be imported here.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType
from typing import Final

DELETED: Final = "the working directory was deleted: change to one that exists"
INVALID: Final = 2  # exit status


def install() -> None:
    """Show such errors of `scrapy` in a line; all others, and those of other programs, as before."""
    shown = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not _is_scrapy(*sys.argv[:1]):
            shown(kind, error, trace)
        elif isinstance(error, KeyboardInterrupt):
            print("interrupted", file=sys.stderr)
        elif isinstance(error, FileNotFoundError) and error.filename is None and _is_homeless():
            print(DELETED, file=sys.stderr)
        elif wrong := _setting(trace):
            print(f"{wrong} = '...' is invalid: expected a dict, or a JSON object", file=sys.stderr)
            sys.exit(INVALID)
        else:
            shown(kind, error, trace)

    sys.excepthook = show


def _is_scrapy(program: str = "") -> bool:
    """Whether *program* is the script `scrapy`, or `python -m scrapy`; a folder of another may be called so."""
    name = Path(program)
    return name.stem == "scrapy" or (name.parent.name, name.name) == ("scrapy", "__main__.py")


def _is_homeless() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _setting(trace: TracebackType | None) -> str | None:
    """The setting that Scrapy was reading from the settings module: only a dict can fail there."""
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
        if frame.f_code.co_name == "setmodule" and "key" in frame.f_locals:
            return str(frame.f_locals["key"])
    return None
