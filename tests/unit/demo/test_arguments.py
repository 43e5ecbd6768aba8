"""Wrong arguments are refused before any work, in one line that says what is expected."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable
from typing import Any

import pytest

from demo.arguments import add_parts, seconds, whole


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (whole(1), "1", 1),
        (whole(2, 40), "40", 40),
        (whole(8, multiple_of=8), "24", 24),
        (seconds(), "0.15", 0.15),
        (seconds(1), "86400", 86_400),
    ],
)
def test_what_is_allowed_is_taken(kind: Callable[[str], Any], text: str, value: object) -> None:
    assert kind(text) == value


@pytest.mark.parametrize(
    ("kind", "text", "complaint"),
    [
        (whole(1), "0", "'0' is invalid: expected an integer of at least 1"),
        (whole(0), "-1", "'-1' is invalid: expected an integer of at least 0"),
        (whole(1), "many", "'many' is invalid: expected an integer of at least 1"),
        (whole(2, 40), "41", "'41' is invalid: expected an integer from 2 to 40"),
        (whole(8, multiple_of=8), "20", "'20' is invalid: expected an integer of at least 8 that is a multiple of 8"),
        (seconds(), "nan", "'nan' is invalid: expected seconds from 0 to 86400"),
        (seconds(), "-0.1", "'-0.1' is invalid: expected seconds from 0 to 86400"),
        (seconds(1), "soon", "'soon' is invalid: expected seconds from 1 to 86400"),
    ],
)
def test_what_is_not_allowed_is_refused_with_what_is(kind: Callable[[str], Any], text: str, complaint: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as refused:
        kind(text)
    assert str(refused.value) == complaint


@pytest.mark.parametrize(("arguments", "parts"), [([], ["speed", "memory"]), (["memory"], ["memory"])])
def test_all_parts_unless_some_are_named(arguments: list[str], parts: list[str]) -> None:
    parser = argparse.ArgumentParser()
    add_parts(parser, ("speed", "memory"))
    assert parser.parse_args(arguments).parts == parts


@pytest.mark.parametrize(
    ("module", "arguments", "complaint"),
    [
        (
            "benchmarks.crawl",
            ["--pages", "20"],
            "--pages: '20' is invalid: expected an integer of at least 8 that is a multiple of 8",
        ),
        ("benchmarks.fairness", ["tarpits"], "parts: 'tarpits' is invalid: expected one of"),
        ("benchmarks.frontier", ["sped"], "parts: 'sped' is invalid: expected one of speed, longest, urgent, memory"),
        ("benchmarks.frontier", ["--urls", "0"], "--urls: '0' is invalid: expected an integer of at least 6400"),
        ("benchmarks.frontier", ["--calls", "0"], "--calls: '0' is invalid: expected an integer of at least 1"),
        ("benchmarks.handlers", ["--rounds", "0"], "--rounds: '0' is invalid: expected an integer of at least 1"),
        ("benchmarks.reparse", ["--rounds", "x"], "--rounds: 'x' is invalid: expected an integer of at least 1"),
        (
            "benchmarks.storage",
            ["--endurance", "79"],
            "--endurance: '79' is invalid: expected an integer of",
        ),
        ("tests.chaos.__main__", ["--kills", "x"], "--kills: 'x' is invalid: expected an integer of at least 0"),
        ("tests.chaos.__main__", ["--hosts", "1"], "--hosts: '1' is invalid: expected an integer from 2 to"),
        ("demo.__main__", ["--workers", "0"], "--workers: '0' is invalid: expected an integer of at least 1"),
        ("demo.shop", ["--port", "70000"], "--port: '70000' is invalid: expected an integer from 1 to 65535"),
    ],
)
def test_a_program_refuses_a_wrong_argument_at_once(
    module: str,
    arguments: list[str],
    complaint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [module, *arguments])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(module).main()
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err
