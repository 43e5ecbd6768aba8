"""The Lua scripts as they are built, without a server."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any, cast

import pytest

from crawler.frontier.config import DEDUPE_MODES, FrontierConfig
from crawler.frontier.server.scripts import Scripts, inlined, source

LUA = files("crawler.frontier") / "lua"
NAMES = sorted(entry.name.removesuffix(".lua") for entry in LUA.iterdir() if entry.name.endswith(".lua"))
WORDS = {"and", "if", "or", "not", "return", "function", "while", "until", "elseif", "in"}
GIVEN = {"ipairs", "pairs", "tonumber", "tostring", "type", "unpack", "next", "pcall", "error"}


def built(name: str, **config: Any) -> str:
    scripts = Scripts(cast("Any", None), FrontierConfig(**config).constants())
    return scripts.text(name)


def without_strings(text: str) -> str:
    return re.sub(r"'(?:\\.|[^'\\])*'", "''", text)


def test_constants_are_put_in_place_but_not_into_strings_and_comments() -> None:
    text = "local ONE, NAME = 1, 'x' -- two\nlocal f = {ONE, 'ONE', NAME, LIMIT_MS, KEYS} -- ONE\nlocal T = KEYS[1]"
    assert inlined(text, {"LIMIT_MS": 500}) == "\nlocal f = {1, 'ONE', 'x', 500, KEYS} \nlocal T = KEYS[1]"


@pytest.mark.parametrize("mode", DEDUPE_MODES)
@pytest.mark.parametrize("name", NAMES)
def test_a_script_includes_all_it_uses(name: str, mode: str) -> None:
    text = without_strings(built(name, dedupe=mode))
    tables = set(re.findall(r"local ([A-Z_]+) = {", text))
    assert set(re.findall(r"\b[A-Z][A-Z_]+\b", text)) <= {"KEYS", "ARGV"} | tables, "a constant that is not included"
    called = set(re.findall(r"(?<![\w.:])([a-z_]\w*)\(", text)) - WORDS - GIVEN
    defined = set(re.findall(r"local function (\w+)", text)) | {"call"}
    if name in {"ack", "settle"} and mode != "window":
        called -= {"seen_set", "leave", "save_seen"}  # never reached then
    assert called <= defined, "a function that is not included"


@pytest.mark.parametrize("name", NAMES)
def test_a_script_says_what_it_takes_gives_and_costs(name: str) -> None:
    text = source(name)
    assert text.startswith("#!lua")
    header = "\n".join(line for line in text.splitlines()[1:] if line.startswith("--"))
    assert header.startswith(f"-- {name}: ")
    assert "KEYS[1]" in header
    assert "Result:" in header
    assert "O(" in header


@pytest.mark.parametrize("name", NAMES)
def test_only_a_push_is_refused_at_maxmemory(name: str) -> None:
    shebang = source(name).splitlines()[0]
    assert ("allow-oom" in shebang or "no-writes" in shebang) == (name != "push")


def test_a_script_includes_no_part_for_nothing() -> None:
    for name in NAMES:
        text = source(name)
        included = re.findall(r"(?m)^-- include: (.*)$", text)
        parts = included[0].split() if included else []
        assert len(parts) == len(set(parts)), name
        assert parts in ([], ["damage"]) or parts[:3] == ["clock", "damage", "state"], name


def test_workers_with_other_settings_run_other_scripts() -> None:
    assert built("lease") != built("lease", lease_ms=60_000)
    assert "60000" in built("lease", lease_ms=60_000)
