"""Processes of a short run: forks of one that has loaded everything, for a fifth of what their start would cost.

They have pids, signals and ends of their own. That a worker can be killed while it is only loading is seen in the long
run, whose workers start as a person starts them.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from demo.children import Child, Family
from tests.zygote import PROJECT_DIR, Zygote


class ForkedChild(Child):
    """One process with its log file."""

    def __init__(self, name: str, arguments: tuple[str, ...], log: Path, zygote: Zygote) -> None:
        self.name = name
        self.log = log
        module, *given = arguments
        module = "" if module == "scrapy" else module
        self.process = zygote.fork(given, os.environ, PROJECT_DIR, log=log, module=module)  # type: ignore[assignment]


class ForkedFamily(Family):
    """As Family, of forks."""

    def __init__(self, log_dir: Path) -> None:
        super().__init__(log_dir)
        self._zygote = Zygote(os.environ.get("PYTEST_XDIST_TESTRUNUID", ""))  # that of the tests, where one is there
        self._zygote.wait()

    def start(self, name: str, *arguments: str) -> Child:
        """As Family's."""
        child = ForkedChild(name, arguments, self._log_dir / f"{name}.log", self._zygote)
        self._children.append(child)
        return child

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        for child in self._children:
            child.process.close()  # type: ignore[attr-defined]
        self._zygote.close()
