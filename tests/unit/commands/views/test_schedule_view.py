"""`scrapy schedule list` and `show` fit 80 columns and cut nothing off."""

from __future__ import annotations

import io
import json

from crawler.commands.terminal import PlainConsole
from crawler.commands.views.schedule_view import lines, table, told
from crawler.frontier.state.schedules import Tick, Timetable
from crawler.policy.schedules import Cron
from crawler.producers.schedule import Schedule, ScheduleSource

PATH = "/srv/lists/of/a/department/with/a/long/name/urls-of-the-whole-catalogue.txt"


def test_a_long_source_goes_on_below_instead_of_being_cut_off() -> None:
    nightly = Schedule("nightly", "products", ScheduleSource("file", (PATH,)), Cron("0 3 * * *", "Europe/Berlin"))
    seen = Timetable(0, "", {"nightly": nightly.text()}, {"nightly": "1795485600"}, {}, {}, [])
    console = PlainConsole(width=80, file=io.StringIO())
    console.print(table(seen))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    start = lines[0].index("source")
    assert PATH in "".join(line[start : lines[0].index("when")].strip() for line in lines)


def test_one_schedule_is_told_in_words() -> None:
    nightly = Schedule("nightly", "products", ScheduleSource("file", ("urls.txt",)), Cron("0 3 * * *", "Europe/Berlin"))
    last = {"epoch": "1795399200", "ended": "2026-11-23T02:00:05+00:00", "run": "20261123-1", "pushed": 5, "refused": 1}
    ticks = [Tick("nightly", "1795485600", json.dumps({"run": "20261124-1", "pushed": 7}))]
    seen = Timetable(0, "", {"nightly": nightly.text()}, {}, {}, {"nightly": json.dumps(last)}, ticks)
    shown = list(lines(told(seen, "nightly")))
    assert "waiting     tick 1795485600 (7 pushed to run 20261124-1)" in shown
    assert "last        run 20261123-1: 5 pushed, 1 refused, ended 2026-11-23 02:00:05 UTC" in shown
    assert "passed over 0" in shown
    assert max(map(len, shown)) <= 80
