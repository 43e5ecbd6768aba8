"""`scrapy spool list`: what waits, on a terminal."""

from __future__ import annotations

import io
from pathlib import Path

from crawler.commands.spool import waiting
from crawler.commands.terminal import PlainConsole


def test_a_name_that_is_given_to_replay_is_shown_whole(tmp_path: Path) -> None:
    name = "shoal@" + "_".join(f"mongodb-{number}.example.net" for number in range(6))
    (tmp_path / name).mkdir()
    (tmp_path / name / "1-000001.spool").write_bytes(bytes(115_213))
    console = PlainConsole(width=80, file=io.StringIO())
    console.print(waiting(tmp_path))
    assert isinstance(console.file, io.StringIO)
    _, _, *rows = console.file.getvalue().splitlines()
    assert "115,213" in rows[0]
    assert "".join(row.split(" ")[0] for row in rows) == name


def test_nothing_waits_where_nothing_was_spooled(tmp_path: Path) -> None:
    assert waiting(tmp_path / "none") == f"nothing waits in {tmp_path / 'none'}"
