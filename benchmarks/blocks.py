"""`make blocks PAGES=DIR`: recall, false positives and cost of block detection on a labelled folder.

DIR holds `labels.json`, a list of {file, vendor, status}, where vendor is null for a real page; each page is judged
under its status and under 200.
NEGATIVES=DIR adds a folder of real pages, `html/` as `make extraction` reads it. Pages may be gzipped.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import timeit
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from crawler.policy.blocks import Block, detect

LEAST_RECALL = 0.95
MOST_FALSE = 5.0  # per 1,000 pages
CALLS = 200


@dataclass(frozen=True, slots=True)
class Sample:
    """One saved response; *vendor* is "" for a real page."""

    name: str
    status: int
    body: bytes
    vendor: str

    def judged(self) -> Block | None:
        return detect(self.status, {}, self.body, "")


@dataclass(slots=True)
class Result:
    """The results of all samples, by name and status."""

    blocks: int = 0
    pages: int = 0
    missed: list[str] = field(default_factory=list)
    mistaken: list[str] = field(default_factory=list)  # attributed to another vendor
    false: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        return 1 - len(self.missed) / self.blocks if self.blocks else 1.0

    @property
    def false_per_1000(self) -> float:
        return 1000 * len(self.false) / self.pages if self.pages else 0.0

    @property
    def good(self) -> bool:
        return self.recall >= LEAST_RECALL and self.false_per_1000 <= MOST_FALSE


def labelled(folder: Path) -> list[Sample]:
    """The samples of labels.json, each under its own status and under 200."""
    labels = json.loads((folder / "labels.json").read_text("utf-8"))
    return [
        Sample(label["file"], status, _read(folder / label["file"]), label["vendor"] or "")
        for label in labels
        for status in sorted({200, label["status"]})
    ]


def real(folder: Path) -> list[Sample]:
    """The pages under html/, as served normally and as by a server in trouble."""
    paths = sorted((folder / "html").iterdir())
    return [Sample(path.name, status, _read(path), "") for path in paths for status in (200, 403)]


def judge(samples: Iterable[Sample]) -> Result:
    """Compare what is detected with the labels."""
    result = Result()
    for sample in samples:
        found, where = sample.judged(), f"{sample.name} ({sample.status})"
        result.blocks += bool(sample.vendor)
        result.pages += not sample.vendor
        if sample.vendor and found is None:
            result.missed.append(where)
        elif sample.vendor and found is not None and found.vendor != sample.vendor:
            result.mistaken.append(f"{where}: {found.vendor} for {sample.vendor}")
        elif found is not None and not sample.vendor:
            result.false.append(f"{where}: {found.vendor}")
    return result


def cost(sample: Sample) -> float:
    """Microseconds of one call, the best of five rounds."""
    return min(timeit.repeat(sample.judged, number=CALLS, repeat=5)) / CALLS * 1e6


def main() -> None:
    """Print the figures; exit status 1 if they fall short."""
    parser = argparse.ArgumentParser(prog="benchmarks.blocks", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--negatives", type=Path, help="a folder with html/: real pages")
    options = parser.parse_args()
    try:
        samples = labelled(options.folder) + (real(options.negatives) if options.negatives else [])
    except (OSError, ValueError, KeyError) as error:
        parser.error(f"{options.folder} is no folder of labelled pages (labels.json: file, vendor, status): {error}")
    result = judge(samples)
    print(f"recall {result.recall:.1%} of {result.blocks} block pages, {len(result.mistaken)} by another vendor's name")
    print(f"false positives {result.false_per_1000:.1f} per 1,000 ({len(result.false)} of {result.pages} pages)")
    _print_cost([sample for sample in samples if sample.status == 200 and not sample.vendor])
    for word, names in (("missed", result.missed), ("mistaken", result.mistaken), ("false", result.false)):
        print("".join(f"{word}: {name}\n" for name in names), end="")
    sys.exit(not result.good)


def _print_cost(pages: Sequence[Sample]) -> None:
    plain = Sample("", 200, b"<html><title>A lamp</title>" + b"<p>A <a href='/x'>lamp</a> of steel.</p>" * 490, "")
    costs = sorted(map(cost, pages)) or [0.0]
    print(f"cost {cost(plain):.1f} us on a plain page of {len(plain.body) // 1000} KB; real pages: median", end=" ")
    print(f"{median(costs):.1f} us, longest {costs[-1]:.1f} us")


def _read(path: Path) -> bytes:
    raw = path.read_bytes()
    return gzip.decompress(raw) if path.suffix == ".gz" else raw


if __name__ == "__main__":
    main()
