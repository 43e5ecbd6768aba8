"""Writes docs/settings.md from the comments of crawler/defaults.py and settings/base.py: `make docs`."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEFAULTS = ROOT / "crawler" / "defaults.py"
DEPLOYMENT = ROOT / "settings" / "base.py"
TARGET = ROOT / "docs" / "settings.md"
HEAD = """# Settings

Made from `crawler/defaults.py` by `make docs`. Set one with `-s NAME=VALUE`, in a settings module, or in a spider's
`custom_settings`. An invalid value stops the start with one line that says what is expected. For settings that Scrapy
has too, these defaults apply under `scrapy crawl` only. What a project sets wins.
"""
WITHOUT_DEFAULT = """
## Without a default here

| setting | where | meaning |
|---|---|---|
| `FRONTIER_ENABLED` | a spider, a script | False in a spider's `custom_settings`: it crawls alone, with Scrapy's own parts. True in a script: it is a worker of the fleet. `scrapy crawl` sets it. Reader: addon.py |
| `REDIS_HOST` | scrapy-redis' name | The server, with REDIS_PORT and REDIS_DB, where REDIS_URL is empty. Reader: frontier/server/connection.py |
| `REDIS_PARAMS` | scrapy-redis' name | Arguments of the Redis client, such as passwords and `sentinel_kwargs`. Reader: frontier/server/connection.py |
| `REDIS_START_URLS_KEY` | scrapy-redis' name | The start-URLs key of spiders that name none, `%(name)s:start_urls` without it. Reader: spiders/base.py |
"""  # noqa: E501  # rows
DEPARTURES = """
# This deployment

What `settings/base.py` sets for the spiders of this repository. Of the settings above it reads from the environment,
under their own names: {}; and GUARD_ALLOWED_NETWORKS from SHOAL_ALLOWED_NETWORKS.
"""
ENVIRONMENT = "FROM_ENVIRONMENT"
_ENVIRONMENT = re.compile(r"^os\.environ\.get\('(\w+)', (.*)\)$")
_SECTION = re.compile(r"# --- (.+?) -+$")


def page() -> str:
    """The whole page."""
    deployment = DEPLOYMENT.read_text(encoding="utf-8")
    names = next(ast.literal_eval(node.value) for node in ast.parse(deployment).body if _name(node) == ENVIRONMENT)
    departures = DEPARTURES.format(", ".join(names)) + render(deployment)
    return HEAD + render(DEFAULTS.read_text(encoding="utf-8")) + WITHOUT_DEFAULT + departures


def render(source: str) -> str:
    """Tables for the text of a settings module: one per section, a row per setting."""
    lines = source.splitlines()
    out: list[str] = []
    read = 0
    for node in ast.parse(source).body:
        sections = [match[1] for line in lines[read : node.lineno - 1] if (match := _SECTION.match(line))]
        out.extend(f"\n## {section}\n\n| setting | default (range) | meaning |\n|---|---|---|" for section in sections)
        read = node.end_lineno or node.lineno
        if (name := _name(node)) is not None and name not in {"PROJECT_DIR", ENVIRONMENT}:
            value = ast.unparse(node.value) if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value else ""
            out.append(f"| `{name}` | {_code(value)}{_range(node)} | {_comment(lines, node)} |")
    return "\n".join(out) + "\n"


def _name(node: ast.stmt) -> str | None:
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return target.id if isinstance(target, ast.Name) and target.id.isupper() else None


def _code(value: str) -> str:
    value = _ENVIRONMENT.sub(r"\2", " ".join(value.split())).replace("|", "\\|")
    return f"`{value}`" if len(value) <= 80 else "see the file"


def _range(node: ast.stmt) -> str:
    """Of a number: what stands in its annotation."""
    match node:
        case ast.AnnAssign(annotation=ast.Subscript(value=ast.Name("Annotated"), slice=ast.Tuple([_, low, high]))):
            return " ({:,} to {:,})".format(*map(ast.literal_eval, (low, high)))
    return ""


def _comment(lines: list[str], node: ast.stmt) -> str:
    """What stands behind the setting, and above it or above its group: settings without a line between them."""
    number = node.lineno - 2
    while number >= 0 and lines[number].strip() and not lines[number].startswith("# "):
        number -= 1
    above: list[str] = []
    while number >= 0 and lines[number].startswith("# ") and not _SECTION.match(lines[number]):
        above.insert(0, lines[number].removeprefix("# "))
        number -= 1
    behind = lines[node.lineno - 1].partition("  # ")[2].removesuffix(".")
    words = f"{behind[:1].upper()}{behind[1:]}. {' '.join(above)}" if behind and above else behind or " ".join(above)
    return words.strip().replace("|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.relative_to(ROOT)} written\n")
