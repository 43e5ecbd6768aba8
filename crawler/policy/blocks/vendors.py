"""The vendors of block pages and their signs, from blocks.toml. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from crawler.policy.blocks.page_text import spelled_out
from crawler.policy.blocks.signs import Phrasings, Signs
from crawler.policy.blocks.stems import Stems

KINDS: Final = ("challenge", "captcha", "denial")
_CLASS: Final = re.compile(r"\{\w+\}")


@dataclass(frozen=True, slots=True)
class Vendor:
    """The signs of one vendor, from blocks.toml."""

    name: str
    marks: Mapping[str, Signs]  # by kind; these and traces are looked for in the source
    stub: tuple[tuple[bytes, ...], ...]
    trace: Signs
    told: tuple[bytes, ...]
    words: Phrasings
    unlinked: Phrasings
    hints: Phrasings
    decisive: Mapping[str, tuple[str, ...]]

    def kind(self, source: bytes) -> str:
        """The kind of page that a mark of this vendor makes *source*, or ""."""
        return next((kind for kind, marks in self.marks.items() if marks.any_in(source)), "")


def _load() -> tuple[tuple[Vendor, ...], Mapping[str, Phrasings], Stems, Mapping[str, Any]]:
    tables = tomllib.loads((files("crawler.policy.blocks") / "blocks.toml").read_text("utf-8"))
    about = tables.pop("about") | tables.pop("walls")
    families = {name: re.split(r"[|\n]", spelled_out(stems)) for name, stems in tables.pop("families").items()}
    weights = tables.pop("weights")
    classes = {f"{{{name}}}": f"[{'|'.join(parts)}]" for name, parts in tables.pop("classes").items()}

    def phrasings(phrases: Iterable[str]) -> Phrasings:
        return Phrasings(spelled_out(_CLASS.sub(lambda found: classes[found[0]], phrase)) for phrase in phrases)

    vendors = tuple(
        Vendor(
            name,
            {kind: Signs(table[kind]) for kind in KINDS if kind in table},
            stub=tuple(tuple(map(str.encode, signs)) for signs in table.get("stub", ())),
            trace=Signs(table.get("trace", ())),
            told=tuple(told.encode() for told in table.get("told", ())),
            words=phrasings(table.get("words", ())),
            unlinked=phrasings(table.get("unlinked", ())),
            hints=phrasings(table.get("hints", ())),
            decisive={header: tuple(values) for header, values in table.get("decisive", {}).items()},
        )
        for name, table in tables.items()
    )
    return vendors, {name: phrasings(words) for name, words in about.items()}, Stems(families), weights


VENDORS, _ABOUT, FAMILIES, WEIGHTS = _load()
GENERIC: Final = VENDORS[-1]  # for blocks that name no vendor
CONSENT: Final = next(vendor.hints for vendor in VENDORS if vendor.name == "consent")
THINGS: Final = _ABOUT["things"]
REPORTS: Final = _ABOUT["reports"]
MEMBERS: Final = _ABOUT["members"]
WHOLE_SITES: Final = _ABOUT["whole_sites"]
VISITOR: Final = _ABOUT["visitor"]
AGAIN: Final = _ABOUT["again"]
FAULTS: Final = _ABOUT["faults"]
REFUSES: Final = _ABOUT["refuses"]
SORRY: Final = _ABOUT["sorry"]
EXPLAINS: Final = _ABOUT["explains"]
ASKS: Final = _ABOUT["asks"]
AGE: Final = _ABOUT["age"]
AGE_CHECK: Final = _ABOUT["age_check"]
ANSWER: Final = _ABOUT["answer"]
CONFIRMING: Final = _ABOUT["confirming"]
ENTRY: Final = _ABOUT["entry"]
PROVING: Final = _ABOUT["proving"]
PRESSING: Final = _ABOUT["pressing"]
SHUT: Final = _ABOUT["shut"]
CHOICE: Final = _ABOUT["choice"]
CHOOSING: Final = _ABOUT["choosing"]
RETURNING: Final = _ABOUT["returning"]
UPKEEP: Final = _ABOUT["upkeep"]
ERRORS: Final = tuple(_ABOUT["errors"])  # how servers' own error pages begin
TELLS: Final = tuple(_ABOUT["tells"])  # how titles begin
# Of all vendors together: most small answers have none of them, and are not looked through vendor by vendor.
MARKS: Final = Signs(mark for vendor in VENDORS for marks in vendor.marks.values() for mark in marks)
TRACES: Final = Signs(trace for vendor in VENDORS for trace in vendor.trace)
TOLD_ROBOTS: Final = Phrasings(words for vendor in VENDORS for words in vendor.words)
UNLINKED: Final = Phrasings(words for vendor in VENDORS for words in vendor.unlinked)
WORDS: Final = Phrasings(words for vendor in VENDORS for words in (*vendor.words, *vendor.unlinked, *vendor.hints))
HINTS: Final = Phrasings(hint for vendor in VENDORS for hint in vendor.hints)


def saying(where: str) -> Vendor | None:
    """The vendor whose words to a robot *where* has, in lower case."""
    if not where or not TOLD_ROBOTS.any_in(where):
        return None
    return next(vendor for vendor in VENDORS if vendor.words.any_in(where))


def saying_only(where: str) -> Vendor | None:
    """As saying, for words that count where nothing leads on."""
    if not where or not UNLINKED.any_in(where):
        return None
    return next(vendor for vendor in VENDORS if vendor.unlinked.any_in(where))
