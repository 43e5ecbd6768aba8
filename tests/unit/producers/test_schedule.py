"""What a schedule may say, and how it is stored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crawler.policy.schedules import Cron, Interval
from crawler.producers.schedule import Schedule, ScheduleError, ScheduleSource, SourceKind

URLS = ScheduleSource("urls", ("https://a.example/",))
HOURLY = Interval(3_600, 1_700_000_000)


def made(**fields: Any) -> Schedule:
    given: dict[str, Any] = {"name": "s", "spider": "products", "source": URLS, "timing": HOURLY}
    return Schedule(**given | fields)


def test_a_long_value_is_not_repeated_whole() -> None:
    with pytest.raises(ScheduleError, match=r"^name = 'x+\.\.\.x+' \(10002 characters\) is invalid: expected 1 to 64"):
        made(name="x" * 10_000)


@pytest.mark.parametrize(
    "schedule",
    [
        made(),
        made(timing=Cron("0 3 * * *", "Europe/Berlin"), missed="all", overlap="queue", priority=-7, tier="api"),
        made(source=ScheduleSource("file", ("/etc/ünïcode.txt",)), paused=True),
        made(source=ScheduleSource("known", ("a.example",)), name="a-very_long-name" + "x" * 48),
    ],
)
def test_what_is_stored_is_read_back(schedule: Schedule) -> None:
    assert Schedule.read(schedule.name, schedule.text()) == schedule


@pytest.mark.parametrize("kind", ["urls", "sitemap", "robots"])
def test_credentials_of_its_urls_are_neither_stored_nor_shown(kind: SourceKind) -> None:
    schedule = made(source=ScheduleSource(kind, ("https://ann:s3cret@a.example/", "https://ann:s3cret@[bad")))
    assert "s3cret" not in f"{schedule.text()} {schedule.source}"
    older = schedule.text().replace("//a.example", "//ann:s3cret@a.example")  # as stored by an earlier release
    assert Schedule.read("s", older) == schedule


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": "Nightly"}, "name = 'Nightly' is invalid"),
        ({"name": "a:b"}, "name = 'a:b'"),
        ({"name": ""}, "name = ''"),
        ({"name": "x" * 65}, "1 to 64"),
        ({"missed": "twice"}, "missed = 'twice' is invalid: expected one of once, all, none"),
        ({"overlap": "refuse"}, "overlap = 'refuse' is invalid: expected one of skip, queue, replace, allow"),
        ({"tier": "ftp"}, "tier = 'ftp' is invalid"),
        ({"priority": 1_001}, "priority = 1001 is invalid"),
        ({"source": ScheduleSource("urls", ())}, "source = 0 is invalid"),
        ({"source": ScheduleSource("urls", ("https://a.example/",) * 101)}, "source = 101 is invalid"),
        ({"source": ScheduleSource("due", ("x",))}, "expected visits a day"),
        ({"source": ScheduleSource("file", ("a", "b"))}, "one file or host"),
    ],
)
def test_what_cannot_be_is_refused_by_name(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ScheduleError, match=words):
        made(**fields)


@pytest.mark.parametrize("key", ["spider", "source", "timing", "version", "missed"])
@pytest.mark.parametrize("value", [None, 7, [], {"kind": "moon"}, "x", "gone"])
def test_what_is_damaged_is_refused_and_never_something_else(key: str, value: object) -> None:
    fields = json.loads(made().text())
    if value == "gone":
        del fields[key]
        if key == "missed":
            fields["unknown"] = 1
    else:
        fields[key] = value
    if (key, value) == ("spider", "x"):
        return
    with pytest.raises(ScheduleError):
        Schedule.read("s", json.dumps(fields))


def test_what_a_newer_release_wrote_is_told() -> None:
    fields = json.loads(made().text()) | {"version": 2}
    with pytest.raises(ScheduleError, match="newer release"):
        Schedule.read("s", json.dumps(fields))
