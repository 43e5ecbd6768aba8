"""The memory benchmark can fail, and it sees every item."""

from __future__ import annotations

from benchmarks.storage_endurance import BAR, SAMPLES, Endurance, stream
from crawler.items import ProductItem


def test_memory_that_grows_late_is_not_flat() -> None:
    flat = [80.0, 90.0, 95.0, 99.0, *[100.0] * (SAMPLES - 4)]
    assert Endurance(200, flat).flat
    assert Endurance(200, flat).growth == 1.0
    grown = [*flat[:-1], 100.0 * BAR + 0.1]
    assert not Endurance(200, grown).flat


def test_it_looks_twenty_times_at_what_this_process_holds() -> None:
    endurance = Endurance(200)
    made: list[tuple[int, int]] = []

    def make(number: int, visit: int) -> ProductItem:
        made.append((number, visit))
        return ProductItem(url=f"http://shop.example/{number}")

    assert len(list(endurance.watched(stream(200, make)))) == 200
    assert made == [(number, visit) for visit in range(4) for number in range(50)]
    assert len(endurance.samples) == SAMPLES
    assert min(endurance.samples) > 5
