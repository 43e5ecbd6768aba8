"""One name, one place: who reads it somewhere knows where to look."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

CRAWLER, TESTS = Path(__file__).parents[2] / "crawler", Path(__file__).parent
BESIDE = ("benchmarks", "chaos", "demo", "operate")  # they test what is not in `crawler/`
REQUIRED: frozenset[str] = frozenset({"Command"})  # Scrapy looks for a command's class by this name


def test_no_two_classes_have_one_name() -> None:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(CRAWLER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name not in REQUIRED:
                found[node.name].append(path.relative_to(CRAWLER).as_posix())
    assert len(found) > 200
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_a_test_with_the_name_of_a_part_stands_in_its_room() -> None:
    rooms: defaultdict[str, set[Path]] = defaultdict(set)
    for path in CRAWLER.rglob("*.py"):
        rooms[path.stem].add(path.parent.relative_to(CRAWLER))
    tests = [path.relative_to(TESTS) for path in sorted(TESTS.rglob("test_*.py"))]
    named = [path for path in tests if path.parts[0] not in BESIDE and path.stem.removeprefix("test_") in rooms]
    assert len(named) > 200
    assert [path for path in named if path.parent not in rooms[path.stem.removeprefix("test_")]] == []


def test_a_room_of_tests_is_one_of_the_code() -> None:
    tests = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    assert {room for room in tests if not (CRAWLER / room).is_dir()} == {Path(name) for name in BESIDE}
