"""The Lua scripts as they are built, without a server."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any, cast

import pytest

from crawler.frontier.config import DEDUPE_MODES, FrontierConfig
from crawler.frontier.server.scripts import Scripts, inlined, library, operations, saving, source

LUA = files("crawler.frontier") / "lua"
NAMES = sorted(operations())
WORDS = {"and", "if", "or", "not", "return", "function", "while", "until", "elseif", "in"}
GIVEN = {"ipairs", "pairs", "tonumber", "tostring", "type", "unpack", "next", "pcall", "error", "select"}


def built(name: str, **config: Any) -> str:
    scripts = Scripts(cast("Any", None), FrontierConfig(**config).constants())
    return scripts.text(name)


def without_strings(text: str) -> str:
    return re.sub(r"'(?:\\.|[^'\\])*'", "''", text)


def test_an_operation_has_a_name_of_its_own_in_all_rooms() -> None:
    entries = [entry.name for room in LUA.iterdir() if room.name != "lib" for entry in room.iterdir()]
    assert sorted(entries) == [f"{name}.lua" for name in NAMES]
    entries = [entry.name for room in (LUA / "lib").iterdir() for entry in room.iterdir()]
    assert sorted(entries) == [f"{name}.lua" for name in sorted(library())]


def test_constants_are_put_in_place_but_not_into_strings_and_comments() -> None:
    text = "local ONE, NAME = 1, 'x' -- two\nlocal f = {ONE, 'ONE', NAME, LIMIT_MS, KEYS} -- ONE\nlocal T = KEYS[1]"
    assert inlined(text, {"LIMIT_MS": 500}) == "\nlocal f = {1, 'ONE', 'x', 500, KEYS} \nlocal T = KEYS[1]"


@pytest.mark.parametrize("name", NAMES)
def test_a_script_includes_all_it_uses(name: str) -> None:
    for mode in DEDUPE_MODES:
        text = without_strings(built(name, dedupe=mode))
        tables = set(re.findall(r"local ([A-Z_]+) = {", text))
        constants = set(re.findall(r"\b[A-Z][A-Z_]+\b", text))
        assert constants <= {"KEYS", "ARGV"} | tables, f"{mode}: a constant that is not included"
        called = set(re.findall(r"(?<![\w.:])([a-z_]\w*)\(", text)) - WORDS - GIVEN
        defined = set(re.findall(r"local function (\w+)", text)) | {"call"}
        if name in {"ack", "settle", "skip"} and mode != "window":
            called -= {"seen_set", "leave", "save_seen"}  # never reached then
        assert called <= defined, f"{mode}: a function that is not included"


def defined_in(part: str) -> set[str]:
    """The names that a part gives to others."""
    functions = set(re.findall(r"(?m)^local function (\w+)", part))
    values = re.findall(r"(?m)^local ([A-Za-z_]\w*(?:, \w+)*)(?= =|$)", part)
    return functions | {name for row in values for name in row.split(", ") if row != "function"}


@pytest.mark.parametrize("name", NAMES)
def test_a_script_includes_nothing_that_it_does_not_use(name: str) -> None:
    listed = " ".join(re.findall(r"(?m)^-- include ?\w*: (.*)$", source(name))).split()
    parts = {part: re.sub("--.*", "", source(f"lib/{part}")) for part in listed}
    for part in set(parts) - {"clock", "damage", "state", "dropped"}:  # which all need; and what fills in_window
        rest = "\n".join([body_of(name), *(text for other, text in parts.items() if other != part)])
        assert any(re.search(rf"\b{one}\b", rest) for one in defined_in(parts[part])), f"lib/{part}"


@pytest.mark.parametrize("name", NAMES)
def test_a_script_says_what_it_takes_gives_and_costs(name: str) -> None:
    text = source(name)
    assert text.startswith("#!lua")
    header = "\n".join(line for line in text.splitlines()[1:] if line.startswith("--"))
    assert header.startswith(f"-- {name}: ")
    assert "Result:" in header
    assert "O(" in header
    assert max(len(line) for line in text.splitlines()) <= 120


def body_of(name: str) -> str:
    """A script without its header."""
    return "\n".join(line for line in source(name).splitlines() if not line.startswith(("#!", "--")))


@pytest.mark.parametrize("table", ["KEYS", "ARGV"])
@pytest.mark.parametrize("name", NAMES)
def test_a_script_has_a_line_for_each_key_and_argument(name: str, table: str) -> None:
    listed = re.findall(rf"(?m)^-- {table}\[(\d+)(\.\.\.)?\]  \S", source(name))
    assert [int(number) for number, _ in listed] == list(range(1, len(listed) + 1))
    assert not any(more for _, more in listed[:-1]), "only the last line stands for more"
    body = body_of(name)
    read = {int(number) for number in re.findall(rf"\b{table}\[(\d+)\]", body)}
    if table == "KEYS":
        read.add(1)  # the tag: by lib/damage
    elif "held()" in body:
        read |= {1, 2}
    rows = re.search(rf"#{table}|\bunpack\({table}|lookup_rows\(", body) if table == "ARGV" else None
    takes_more = bool(listed and listed[-1][1])
    assert takes_more == bool(rows)
    assert max(read, default=0) <= len(listed)
    assert read | ({len(listed)} if takes_more else set()) == set(range(1, len(listed) + 1)), "each of them is read"


def test_no_line_of_a_part_is_too_long() -> None:
    for name, entry in library().items():
        assert max(len(line) for line in entry.read_text().splitlines()) <= 120, name


@pytest.mark.parametrize("name", NAMES)
def test_a_script_saves_all_that_its_parts_keep(name: str) -> None:
    by_hand = set(re.findall(r"\bsave_\w+", body_of(name)))
    known = {"rules": {"save_state"}, "sweep": {"save_hosts", "save_tallies", "save_state"}}
    assert by_hand <= known.get(name, set()), "save() knows what, and in which order"
    assert not re.search(r"\bsave\(\)", built(name)), "a line that was not replaced"


def test_what_is_saved_first_may_still_change_what_is_saved_later() -> None:
    parts = ["local function save_state()\nend", "local function save_hosts()\nend"]
    assert saving("  save()\nreturn 1", parts) == "  save_hosts()\n  save_state()\nreturn 1"
    with pytest.raises(ValueError, match="save_other"):
        saving("save()", ["local function save_other()\nend"])


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
