"""The engine's benchmark, in its shortest form: each part does the work, ours and Scrapy's."""

from __future__ import annotations

from benchmarks import engine


async def test_each_part_is_measured_beside_scrapys_own() -> None:
    rows = await engine.measure(rounds=1, pages=3)

    assert [row[0] for row in rows] == [f"`{name}`" for name in engine.PARTS]
    assert all(float(cell) > 0 for row in rows for cell in row[1:])


async def test_both_sides_end_alike() -> None:
    for build in engine.PARTS.values():
        ours, theirs = build()
        assert type(await ours()) is type(await theirs())


def test_what_the_readme_names_exists() -> None:
    hooks = engine.DOCUMENT.read_text()
    room = {path.name for path in engine.DOCUMENT.parent.glob("*.py")} - {"__init__.py"}

    assert {name for name in room if f"| `{name}` |" not in hooks} == set()
