"""Scrapy's own tests of whole spiders on the fleet: the short form of `make compat`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from compat.__main__ import HOME, PLUGINS, SCRAPY
from tests.zygote import PROJECT_DIR


@pytest.mark.slow
def test_scrapys_own_crawl_tests_differ_only_by_design() -> None:
    if not (HOME / SCRAPY).is_dir() or not PLUGINS.is_dir():
        why = "Scrapy's source distribution is not here: `make compat ARGS=--fetch` fetches it"
        (pytest.fail if "CI" in os.environ else pytest.skip)(why)
    done = subprocess.run(
        [sys.executable, "-m", "compat", "--short"],
        cwd=PROJECT_DIR,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert "2 differ by design, 0 failed" in done.stdout
