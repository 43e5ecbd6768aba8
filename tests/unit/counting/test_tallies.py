"""What waits to be told: bounded, and not lost while Redis is away."""

from __future__ import annotations

from crawler.counting.tallies import MOST, MOST_FIELDS, FieldTally, Tally


def test_what_could_not_be_told_is_told_with_what_came_since() -> None:
    tally, fields = Tally(), FieldTally()
    tally.add("a.example", "ok")
    fields.add("7", "present", ["price", "title"])
    told, graded = tally.take(), fields.take()
    tally.add("a.example", "ok")
    fields.add("7", "present", ["price"])
    tally.give_back(told)
    fields.give_back(graded)
    assert tally.take() == {("a.example", "ok"): 2}
    assert fields.take() == {("7", "present", "price"): 2, ("7", "present", "title"): 1}
    assert not tally.take() + fields.take()


def test_neither_grows_without_bounds() -> None:
    tally, fields = Tally(), FieldTally()
    for number in range(MOST + 10):
        tally.add(f"{number}.example", "ok")
    tally.add("0.example", "ok")
    for number in range(MOST_FIELDS + 10):
        fields.add("7", "present", [f"field {number}"])
    counts = tally.take()
    assert (len(counts), counts["0.example", "ok"]) == (MOST, 2)
    assert len(fields.take()) == MOST_FIELDS
