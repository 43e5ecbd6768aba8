"""Modules of a package import one another in one direction only: none is half loaded while another uses it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


def modules(package: Path) -> dict[str, Path]:
    """Its modules by name."""
    found = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(tree: ast.AST, known: Mapping[str, Path]) -> Iterator[str]:
    """The modules of *known* that it imports by its absolute names, in functions too, but not for types alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                yield from imports(other, known)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in known else node.module for name in names if node.module in known)
        elif not isinstance(node, ast.expr):  # which holds none, and is most of a module
            yield from imports(node, known)


@cache
def graph(package: Path) -> dict[str, set[str]]:
    known = modules(package)
    return {name: {*imports(ast.parse(path.read_text()), known)} - {name} for name, path in known.items()}


def cycle(imported: Mapping[str, set[str]]) -> list[str]:
    """One import cycle, [] if there is none."""
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("name", ["crawler", "demo", "benchmarks", "settings"])
def test_no_modules_import_each_other(name: str) -> None:
    found = graph(PROJECT / name)
    assert found, "there are modules"
    assert cycle(found) == []


def test_the_graph_is_that_of_the_sources() -> None:
    found = graph(PROJECT / "crawler")
    assert "crawler.frontier.server.shards" in found["crawler.frontier.frontier"]
    assert sum(map(len, found.values())) > 500


def test_a_circle_is_found(tmp_path: Path) -> None:
    package = tmp_path / "one"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("def later():\n    from one import b\n    return b\n")
    (package / "b.py").write_text("from one.c import x\n")
    (package / "c.py").write_text("from one.a import later\nx = later\n")
    assert set(cycle(graph(package))) == {"one.a", "one.b", "one.c"}
    (package / "c.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from one.a import later\nx = 1\n"
    )
    graph.cache_clear()
    assert cycle(graph(package)) == []


def test_the_supervisors_of_the_bundled_servers_do_not_load_scrapy() -> None:
    """Each stays for as long as its server: that took 20 MB more, and 0.3 s of each start."""
    program = "import sys, crawler.embedded.supervisor; print(*sorted({'scrapy', 'twisted', 'redis'} & {*sys.modules}))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=PROJECT, check=True)
    assert said.stdout.split() == []


def test_commands_that_do_not_crawl_do_not_load_what_a_worker_needs() -> None:
    """A quarter of the time that `scrapy push` and `scrapy status` take to start."""
    others = "addon, commands.control, commands.dead, commands.export, commands.push, commands.runs, commands.status"
    modules = ", ".join(f"crawler.{name}" for name in others.split(", "))
    heavy = {"crawler.worker.scheduler", "scrapy.core.downloader.contextfactory"}
    program = f"import sys, {modules}; print(*sorted({heavy} & {{*sys.modules}}))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=PROJECT, check=True)
    assert said.stdout.split() == []


def test_a_push_that_runs_does_not_load_it_either() -> None:
    """As its settings are completed, for the project and again for the spider: 10 MB, and a third of its start."""
    given = ["scrapy", "push", "products", "--dry-run", "https://shop.example/"]
    program = (
        "import atexit, sys; from scrapy.cmdline import execute; "
        "atexit.register(lambda: print('crawler.worker.worker' in sys.modules)); "
        f"execute({given})"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=PROJECT, check=True)
    assert said.stdout.split()[-1] == "False"
