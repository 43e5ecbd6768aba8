"""`scrapy push` as it runs where Shoal is installed: only its own command is loaded, and none of the packages that only
developers have. Says its CPU seconds and its largest memory (KB) in the last line of standard error."""

from __future__ import annotations

import importlib.metadata as metadata
import resource
import sys
from pathlib import Path
from typing import Any

ABSENT = ("pydantic", "scrapy_poet", "pytest", "web_poet")  # Scrapy and itemadapter load them where they are
GROUP = "scrapy.commands"


def _entry_points(**given: Any) -> Any:
    if given.get("group") == GROUP:
        return [metadata.EntryPoint("push", "shoal:push", GROUP)]
    return _found(**given)


_found, metadata.entry_points = metadata.entry_points, _entry_points
sys.modules |= dict.fromkeys(ABSENT)  # type: ignore[arg-type]  # as if they could not be imported

from scrapy.cmdline import execute  # noqa: E402

try:
    execute(["scrapy", "push", *sys.argv[1:]])
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    status = Path("/proc/self/status").read_text()  # ru_maxrss holds that of the parent, too
    sys.stderr.write(f"\n{used.ru_utime + used.ru_stime:.3f} {status.partition('VmHWM:')[2].split()[0]}\n")
