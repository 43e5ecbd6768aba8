"""`scrapy schedule list` fits 80 columns and cuts nothing off."""

from __future__ import annotations

import io

from rich.console import Console

from crawler.commands.schedule_view import table
from crawler.frontier.state.schedules import Timetable
from crawler.policy.schedules import Cron
from crawler.producers.schedule import Schedule, ScheduleSource

PATH = "/srv/lists/of/a/department/with/a/long/name/urls-of-the-whole-catalogue.txt"


def test_a_long_source_goes_on_below_instead_of_being_cut_off() -> None:
    nightly = Schedule("nightly", "products", ScheduleSource("file", (PATH,)), Cron("0 3 * * *", "Europe/Berlin"))
    seen = Timetable(0, "", {"nightly": nightly.text()}, {"nightly": "1795485600"}, {}, {}, [])
    console = Console(width=80, file=io.StringIO())
    console.print(table(seen))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    start = lines[0].index("source")
    assert PATH in "".join(line[start : lines[0].index("when")].strip() for line in lines)
