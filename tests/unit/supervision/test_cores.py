"""`--workers auto`: the cores that may be used, and the share of them that a container has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crawler.supervision.cores import usable_cores


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a machine with eight cores for us."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    return tmp_path


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, 8),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, 8),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "350000 100000\n"}, 3),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "garbage\n"}, 8),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "200000 100000"}, 2),
        ({"proc/self/cgroup": "0::/../x\n", "sys/fs/cgroup/cpu.max": "200000 100000"}, 2),
        (
            {
                "proc/self/cgroup": "5:cpu,cpuacct:/pod\n4:memory:/pod\n",
                "sys/fs/cgroup/cpu/pod/cpu.cfs_quota_us": "400000\n",
                "sys/fs/cgroup/cpu/pod/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            4,
        ),
    ],
)
def test_the_quota_of_the_container_counts(machine: Path, files: dict[str, str], cores: int) -> None:
    write(machine, files)
    assert usable_cores(machine) == cores


def test_a_machine_that_tells_no_affinity_has_its_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert usable_cores(tmp_path) == 6
