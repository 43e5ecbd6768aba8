"""Writes docs/settings.md from settings/base.py, whose comments are the one source: `make docs`."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "settings" / "base.py"
TARGET = ROOT / "docs" / "settings.md"
HEAD = """# Settings

Made from `settings/base.py` by `make docs`. Set one with `-s NAME=VALUE` or in a settings module; those that it reads
from the environment, there too. A value out of range stops the start with one line that says what is allowed.
"""
_ENVIRONMENT = re.compile(r"^os\.environ\.get\('(\w+)', (.*)\)$")
_SECTION = re.compile(r"# --- (.+?) -+$")


def render(source: str) -> str:
    """The page for the text of a settings module: a table per section, a row per setting."""
    lines = source.splitlines()
    out = [HEAD]
    read = 0
    for node in ast.parse(source).body:
        sections = [match[1] for line in lines[read : node.lineno - 1] if (match := _SECTION.match(line))]
        out.extend(f"\n## {section}\n\n| setting | default | meaning |\n|---|---|---|" for section in sections)
        read = node.end_lineno or node.lineno
        if (name := _name(node)) is not None and name != "PROJECT_DIR":
            value = ast.unparse(node.value) if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value else ""
            out.append(f"| `{name}` | {_code(value)} | {_comment(lines, node) or 'as above'} |")
    return "\n".join(out) + "\n"


def _name(node: ast.stmt) -> str | None:
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return target.id if isinstance(target, ast.Name) and target.id.isupper() else None


def _code(value: str) -> str:
    value = _ENVIRONMENT.sub(r"\2", " ".join(value.split())).replace("|", "\\|")
    return f"`{value}`" if len(value) <= 80 else "see the file"


def _comment(lines: list[str], node: ast.stmt) -> str:
    """What stands above the setting, or above its group, and behind it."""
    above: list[str] = []
    number = node.lineno - 2
    while number >= 0 and lines[number].startswith("# ") and not _SECTION.match(lines[number]):
        above.insert(0, lines[number].removeprefix("# "))
        number -= 1
    behind = lines[node.lineno - 1].partition("  # ")[2]
    return " ".join([*above, behind]).strip().replace("|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(render(SOURCE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{TARGET.relative_to(ROOT)} written\n")
