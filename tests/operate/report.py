"""What `make operate` found: for the terminal, in docs/operate.md, and the figures that docs/production.md quotes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks import document
from tests.operate.load import Told

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
OPERATE: Final = DOCS / "operate.md"
PRODUCTION: Final = DOCS / "production.md"
MOST: Final = 10  # lines of what is wrong


@dataclass(slots=True)
class Outcome:
    """Of one part."""

    name: str
    about: str
    seconds: float
    told: list[Told] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # what is missing here

    @property
    def verdict(self) -> str:
        if self.wrong:
            return f"{len(self.wrong)} things were wrong"
        return "; ".join(["Skipped in part", *self.skipped]) if self.skipped else "All of it held"


def lines(outcome: Outcome) -> list[str]:
    """For the terminal."""
    rows = [", ".join(f"{name}: {value}" for name, value in told.row.items()) for told in outcome.told]
    return [
        f"{outcome.name}: {outcome.verdict}, {outcome.seconds:.0f} s",
        *(f"  {row}" for row in rows),
        *(f"  WRONG {line}" for line in outcome.wrong[:MOST]),
    ]


def write(outcomes: Sequence[Outcome]) -> None:
    """The sections of those parts that ran to their end; the others stay as they are."""
    for outcome in outcomes:
        when = document.machine("scrapy", "redis", "pymongo")
        title = outcome.name.capitalize().replace("Mongodb", "MongoDB")
        text = f"## {title}\n\n{outcome.about}\n\n"
        if outcome.told:
            text += f"{_table(outcome.told)}\n\n"
        text += f"{outcome.verdict}; {outcome.seconds:.0f} s. {when}."
        document.write(outcome.name, text, OPERATE)
        if outcome.name in {"redis", "mongodb"} and outcome.told and not outcome.wrong:
            document.write(outcome.name, _table(outcome.told), PRODUCTION)


def _table(told: Sequence[Told]) -> str:
    head = list(told[0].row)
    return document.rows(head, [[one.row.get(name, "") for name in head] for one in told])
