"""Writes docs/stats.md from the comments of crawler/stats.py: `make docs`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "crawler" / "stats.py"
TARGET = ROOT / "docs" / "stats.md"
sys.path.insert(0, str(ROOT))

from crawler.metrics.stat_families import Family, read  # noqa: E402

HEAD = """# Stats

Made from `crawler/stats.py` by `make docs`. Workers count these beside Scrapy's own stats: a worker's log lists them at
its end, `scrapy runs show` sums them over a run's workers ([runs.md](runs.md#stats)), and `/metrics` exports them
([metrics.md](metrics.md)).
"""
TABLE = "| stat | metric | what |\n|---|---|---|"
_SECTION = re.compile(r"# (.+)")
_STAT = re.compile(r'[A-Z_]+: Final = "([^"]+)"  # (.+)')


def page() -> str:
    """The whole page."""
    families = {stat: family for family in read({}) for stat in family.stats}
    return HEAD + "".join(f"{line}\n" for line in _lines(families))


def _lines(families: dict[str, Family]) -> Iterator[str]:
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        if section := _SECTION.fullmatch(line):
            yield f"\n## {section[1][:1].upper()}{section[1][1:]}\n\n{TABLE}"
        elif found := _STAT.fullmatch(line):
            family = families[found[1]]
            metric = family.metric + ("" if family.is_gauge else "_total")
            label = f"{{{family.label}}}" if family.label else ""
            yield f"| `{found[1].replace('{}', f'<{family.label}>')}` | `{metric}{label}` | {found[2]} |"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.relative_to(ROOT)} written\n")
