"""A worker that stores elsewhere than others of its spider."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.frontier.messages import WorkerState
from crawler.worker.upkeep.databases import compare, database_of


def other(**info: Any) -> WorkerState:
    return WorkerState("other", 0, {"spider": "walk", **info})


@pytest.mark.parametrize(
    ("mine", "theirs", "words"),
    [
        ("shoal", "shaol", "in the database shoal by this worker, in the database shaol by other"),
        ("shoal", "", "in the database shoal by this worker, in no database by other"),
        ("", "shoal", "in no database by this worker, in the database shoal by other"),
    ],
)
def test_one_line_names_one_of_them(mine: str, theirs: str, words: str, caplog: pytest.LogCaptureFixture) -> None:
    compare(mine, "walk", [other(database=mine), other(database=theirs), other(database=theirs)])
    (line,) = caplog.messages
    assert words in line


def test_the_same_database_another_spider_and_an_older_release_are_no_mistake(caplog: pytest.LogCaptureFixture) -> None:
    compare("shoal", "walk", [other(database="shoal"), other(database="mine", spider="swim"), other()])
    assert not caplog.messages


@pytest.mark.parametrize(("stores", "found"), [(True, "shoal"), (False, ""), ("false", "")])
def test_who_stores_nothing_has_none(stores: bool | str, found: str) -> None:
    assert database_of({"MONGODB_DATABASE": "shoal", "SHOAL_STORE": stores}) == found
