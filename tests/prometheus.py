"""The programs of Prometheus and Alertmanager, as Debian packages them, for the tests that need the real ones."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

# What a program is called here or there, and Debian's package of it.
PROGRAMS = {
    "promtool": (("promtool",), "prometheus"),
    "prometheus": (("prometheus",), "prometheus"),
    "amtool": (("amtool",), "prometheus-alertmanager"),
    "alertmanager": (("alertmanager", "prometheus-alertmanager"), "prometheus-alertmanager"),
}


def program(name: str) -> str:
    """Its path. Without it: fail where CI is set, skip on a laptop."""
    names, package = PROGRAMS[name]
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        reason = f"{name} is not installed (Debian and Ubuntu: apt install {package})"
        if os.environ.get("CI"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return path


def check_metrics(text: bytes | str) -> None:
    """Fail where `promtool check metrics` has anything to say of *text*."""
    given = text.encode() if isinstance(text, str) else text
    done = subprocess.run([program("promtool"), "check", "metrics"], input=given, capture_output=True, check=False)
    assert (done.returncode, done.stdout.decode() + done.stderr.decode()) == (0, "")
