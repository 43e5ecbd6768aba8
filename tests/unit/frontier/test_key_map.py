"""docs/architecture.md lists every key that the frontier keeps in Redis, and no other."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

PACKAGE = Path(str(files("crawler.frontier")))
PAGE = (Path(__file__).parents[3] / "docs" / "architecture.md").read_text()
KINDS = ("dead", "gone")  # of letters: their keys are put together
# In Python: Shards.key(shard, "name"); in Lua T .. ':name', or that in a list of what is put behind T.
LUA = re.compile(r"T \.\. '(:[a-z:]+)(?= ?')|\{'(:[a-z:]+)', '(:[a-z:]+)'\}")
PYTHON = re.compile(r"\.key\([\w.]+(?:\([\w.]+\))?, f?\"([a-z:]+)")


def first_words(names: set[str]) -> set[str]:
    return {name.strip(":").split(":")[0] for name in names}


def listed() -> set[str]:
    """The keys of the table, up to what varies."""
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `T:")]
    return {name.rstrip(":") for row in rows for name in re.findall(r"`T:([a-z:]+)", row)}


def used() -> set[str]:
    lua = "\n".join(path.read_text() for path in sorted((PACKAGE / "lua").rglob("*.lua")))
    python = "\n".join(path.read_text() for path in sorted(PACKAGE.rglob("*.py")))
    found = {name for names in LUA.findall(lua) for name in names if name} | set(PYTHON.findall(python))
    letters = {name for kind in KINDS for name in (kind, f"{kind}:at")}
    return {name.strip(":") for name in found} | letters


def test_every_key_is_in_the_map() -> None:
    assert len(used()) > 35, "the patterns find the keys"
    assert used() - listed() == set()


def test_the_map_has_no_key_that_is_gone() -> None:
    assert first_words(listed()) - first_words(used()) == set()


@pytest.mark.parametrize("name", ["rules", "pace", "down", "damaged", "feeds", "delayed:room", "shards", "gone", "q"])
def test_the_patterns_find_keys_of_each_kind(name: str) -> None:
    assert name in used() & listed()
