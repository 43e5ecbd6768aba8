"""The benchmarks write docs/benchmarks.md themselves: each owns a section between two markers."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
_HEAD = """# Benchmarks

Every figure here was written by the command named beside it; none is typed in. Absolute figures depend on the
machine, ratios hardly do: both sides run in turns, in the same minutes, on the same servers.
"""


def write(name: str, text: str, file: Path = DOCUMENT) -> None:
    """Replace the section *name* of *file*, or add it at the end."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    whole = file.read_text() if file.exists() else _HEAD
    before, found, rest = whole.partition(begin)
    after = rest.partition(end)[2] if found else ""
    separator = "" if found else "\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{before}{separator}{begin}{text.strip()}\n{end}{after}")


def rows(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are aligned to the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *body])


def table(name: str, file: Path = DOCUMENT) -> list[list[str]]:
    """The cells of the table in section *name*, without its head; empty where there is none."""
    section = file.read_text().partition(f"<!-- {name}: begin -->\n")[2].partition(f"<!-- {name}: end -->")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def machine(*packages: str) -> str:
    """Where and with what a benchmark ran; a load above its own means that other programs were running."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    when = datetime.now(UTC).date()
    system = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{when}, {system}, load {os.getloadavg()[0]:.1f}, {versions}"
