"""How many cores this process may use: its affinity, and its container's CPU quota."""

from __future__ import annotations

import os
from pathlib import Path

_ROOT = Path("/")


def usable_cores(root: Path = _ROOT) -> int:
    """The cores of the process' affinity, at most its control groups' CPU quota (rounded down), at least 1."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return max(1, int(min([float(cores), *_quotas(root)])))


def _quotas(root: Path) -> list[float]:
    """The CPU quota of each control group above this process."""
    found = []
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, kinds, path = line.split(":", 2)
        base = root / "sys/fs/cgroup" / ("cpu" if "cpu" in kinds.split(",") else "")
        if kinds == "" or "cpu" in kinds.split(","):
            inside = base / path.lstrip("/")
            found += [_quota(one) for one in (inside, *inside.parents) if one == base or base in one.parents]
    return [quota for quota in found if quota]


def _quota(group: Path) -> float:
    """The quota of one group in CPUs, of version 2 or 1; 0 for none."""
    words = _read(group / "cpu.max").split() or [
        _read(group / "cpu.cfs_quota_us").strip(),
        _read(group / "cpu.cfs_period_us").strip(),
    ]
    if len(words) == 2 and all(word.isdecimal() for word in words) and int(words[1]):
        return int(words[0]) / int(words[1])
    return 0.0


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:  # no such file, no limit
        return ""
