"""The BROWSER_ settings, and the search for a Chromium."""

from __future__ import annotations

import mmap
import os
import re
import shutil
from pathlib import Path

import playwright
import pytest

from crawler.errors import ConfigError
from crawler.handlers.browser.chromium import DISABLED, ENABLED, BrowserConfig, find, private_bytes
from tests.unit.test_settings import base


@pytest.fixture
def binary(tmp_path: Path) -> str:
    path = tmp_path / "chromium"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_defaults_are_in_range(binary: str) -> None:
    config = BrowserConfig.from_settings(base(BROWSER_EXECUTABLE=binary))
    assert config.executable == binary
    assert config.blocked == {"image", "media", "font"}


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("BROWSER_BLOCKED_RESOURCES", ["pictures"], "any of fetch, font, image"),
        ("BROWSER_BLOCKED_RESOURCES", ["websocket"], "any of fetch, font, image"),  # Playwright does not route them
        ("BROWSER_BLOCKED_RESOURCES", 5, "any of fetch, font, image"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(binary: str, name: str, value: object, allowed: str) -> None:
    with pytest.raises(ConfigError) as error:
        BrowserConfig.from_settings(base(**{"BROWSER_EXECUTABLE": binary, name: value}))
    assert name in str(error.value)
    assert allowed in str(error.value)


def test_types_may_be_one_text(binary: str) -> None:
    settings = base(BROWSER_EXECUTABLE=binary, BROWSER_BLOCKED_RESOURCES="image, script")
    assert BrowserConfig.from_settings(settings).blocked == {"image", "script"}
    settings = base(BROWSER_EXECUTABLE=binary, BROWSER_BLOCKED_RESOURCES="")
    assert BrowserConfig.from_settings(settings).blocked == frozenset()


def test_debians_chromium_is_found_before_playwrights(
    binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / ".cache/ms-playwright/chromium-1200/chrome-linux/chrome"
    own.parent.mkdir(parents=True)
    own.touch()
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(shutil, "which", {"chromium": binary}.get)
    assert find("") == binary
    monkeypatch.setattr(shutil, "which", {"chromium-headless-shell": binary}.get)
    assert find("") == binary
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert find("") == str(own)


def test_without_any_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(ConfigError, match="install Debian's `chromium`"):
        find("")
    with pytest.raises(ConfigError, match="/nowhere/chromium"):
        find("/nowhere/chromium")


def test_memory_is_what_a_process_has_for_itself() -> None:
    before = private_bytes(os.getpid())
    with mmap.mmap(
        -1, 50_000_000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    ) as kept:  # not from the heap, which may have that much to spare
        kept.write(b"x" * len(kept))
        assert private_bytes(os.getpid()) - before > 40_000_000
    assert private_bytes(2**22 + 1) == 0


def test_features_that_playwright_switches_are_in_our_switches_too() -> None:
    source = (Path(playwright.__file__).parent / "driver/package/lib/coreBundle.js").read_text("utf-8")
    switched = dict(re.findall(r"\b(disabled|enabled)Features = (?:\(\) => )?\[(.*?)\]\.filter", source, re.DOTALL))
    named = {which: set(re.findall(r'"(\w+)"', lines)) for which, lines in switched.items()}

    assert named["disabled"] - {*DISABLED} == set()
    assert named["enabled"] - {*ENABLED} == set()
