"""A class name exists once: who reads it somewhere knows which is meant."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

CRAWLER = Path(__file__).parents[2] / "crawler"
REQUIRED: frozenset[str] = frozenset({"Command"})  # Scrapy looks for a command's class by this name


def test_no_two_classes_have_one_name() -> None:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(CRAWLER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name not in REQUIRED:
                found[node.name].append(path.relative_to(CRAWLER).as_posix())
    assert len(found) > 200
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
