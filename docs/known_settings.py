"""Writes into pyproject.toml which settings scrapy-lint knows, from crawler/defaults.py: `make docs`."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

from scrapy.settings import default_settings

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "pyproject.toml"
sys.path.insert(0, str(ROOT))

from crawler import defaults  # noqa: E402

HEAD = "    # ours, of crawler/defaults.py (`make docs`)\n"
_ROWS = re.compile(rf'(?<={re.escape(HEAD)})(?:    "[^\n]*\n)*')


def page() -> str:
    """The whole file."""
    return _ROWS.sub(_rows(), TARGET.read_text(encoding="utf-8"), count=1)


def _rows() -> str:
    """Scrapy's own the linter knows already."""
    names = sorted(name for name in vars(defaults) if name.isupper() and not hasattr(default_settings, name))
    listed = " ".join(f'"{name}",' for name in names)
    return textwrap.indent(textwrap.fill(listed, 116, break_on_hyphens=False), "    ") + "\n"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.relative_to(ROOT)} written\n")
