"""docs/capacity.md is worked out from what the benchmarks have written."""

from __future__ import annotations

from docs import capacity
from docs.capacity import Kept, Measured, Simulated, document, million, needs


def test_the_page_is_what_the_figures_say() -> None:
    assert capacity.FILE.read_text() == document(Measured.read(), Simulated.read(), Kept.read()), "run `make docs`"


def test_ten_times_the_pages_need_ten_times_as_much() -> None:
    measured = Measured(
        page_ms=2, wide_ms=3, redis_us=50, queued_bytes=150, seen_bytes=10, whole_bytes=165, documents=5_000
    )
    small, large = needs(measured, 100), needs(measured, 1_000)
    assert small[:3] == ["100", "1,157", "8"]
    assert large[:3] == ["1,000", "11,574", "78"]
    assert (small[4], large[4]) == ("1", "3")
    assert float(large[5].replace(",", "")) == 10 * float(small[5])


def test_a_million_pages_are_hours_of_cores_and_gigabytes() -> None:
    assert million("some", cpu_ms=36, wire_kb=100, archive_kb=120) == [
        *("some", "36.0", "16.7", "100", "120", "0.67", "2.76")
    ]
