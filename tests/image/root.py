"""A throwaway root: this machine's system below, whatever is written above, in memory or a temporary directory.

Needs Linux, root, and a mount namespace of its own (`unshare --mount`), with which everything here is gone at the end;
nothing may be deleted through it.
The checkout and home directories are hidden in it; of Python it has this one, at /usr/local.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.zygote import PROJECT_DIR

HIDDEN: Final = ("root", "home", *PROJECT_DIR.parts[1:2])
PATH: Final = "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin"
DEVICES: Final = ("null", "zero", "random", "urandom")
SKIPPED: Final = ("site-packages", "test", "tests", "idlelib", "__pycache__", "*.a")  # of Python


class Root:
    """One stage's file system."""

    def __init__(self, directory: Path) -> None:
        parts = {name: directory / name for name in ("upper", "work", "root")}
        for part in parts.values():
            part.mkdir(parents=True)
        self.path = parts["root"]
        terms = f"lowerdir=/,upperdir={parts['upper']},workdir={parts['work']}"
        _run("mount", "-t", "overlay", "overlay", "-o", terms, str(self.path))
        for name in dict.fromkeys(HIDDEN):
            _run("mount", "-t", "tmpfs", "tmpfs", str(self.path / name))
        _run("mount", "-t", "tmpfs", "tmpfs", str(self.path / "dev"))
        for name in DEVICES:
            (self.path / "dev" / name).touch()
            _run("mount", "--bind", f"/dev/{name}", str(self.path / "dev" / name))
        _run("mount", "-t", "proc", "proc", str(self.path / "proc"))
        _run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", str(self.path / "tmp"))
        shutil.rmtree(self.path / "usr/local")
        python = shutil.ignore_patterns(*SKIPPED)
        shutil.copytree(sys.base_prefix, self.path / "usr/local", symlinks=True, ignore=python)
        (self.path / "usr/local/lib/python3.11/site-packages").mkdir(exist_ok=True)
        self.run(["ldconfig"], {})

    def add(self, sources: Sequence[Path], target: str, directory: str = "/") -> None:
        """As COPY: several sources, or one that is a file, go into *target* if that ends in a slash."""
        place = self.path / str(Path(directory) / target).lstrip("/")
        into = target.endswith("/") or target in {".", "./"}
        for source in sources:
            goal = place / source.name if into and (source.is_file() or len(sources) > 1) else place
            goal.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(
                    source, goal, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                shutil.copy2(source, goal)

    def freeze(self) -> None:
        """Make it read-only, but for /tmp."""
        _run("mount", "-o", "remount,ro", str(self.path))

    def run(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        user: str = "0:0",
        directory: str = "/",
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run *command* in it, with nothing else in its environment."""
        enter = ["chroot", f"--userspec={user}", str(self.path), "/usr/bin/env", "-i", f"--chdir={directory}"]
        given = [f"{name}={value}" for name, value in ({"PATH": PATH, "HOME": "/tmp"} | dict(env)).items()]
        done = subprocess.run([*enter, *given, *command], capture_output=True, text=True, check=False, timeout=600)
        if check and done.returncode:
            raise RuntimeError(f"{command} ended with {done.returncode}:\n{done.stdout[-2_000:]}{done.stderr[-2_000:]}")
        return done


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
