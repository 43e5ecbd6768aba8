"""docs/stats.md tells every stat."""

from __future__ import annotations

from crawler import stats
from tests.unit.test_settings import ROOT, module


def test_the_page_says_what_the_names_say() -> None:
    table = module(ROOT / "docs" / "stats_table.py")
    assert table.TARGET.read_text(encoding="utf-8") == table.page(), "make docs"


def test_every_stat_has_a_row() -> None:
    """One without a comment that says what it counts has none."""
    page = (ROOT / "docs" / "stats.md").read_text(encoding="utf-8")
    ours = [name for constant, name in vars(stats).items() if constant.isupper()]
    assert len(ours) > 80
    assert [name for name in ours if f"| `{name.partition('{')[0]}" not in page] == []
