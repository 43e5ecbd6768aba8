"""The plot of the README: well-formed, on one scale, and of the same figures as the table in docs/benchmarks.md."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from benchmarks import chart, crawl, document

_SVG = "{http://www.w3.org/2000/svg}"


def _drawn(svg: str) -> tuple[list[str], list[float]]:
    """The texts and the lengths of the bars."""
    root = ET.fromstring(svg)
    texts = [text.text or "" for text in root.iter(f"{_SVG}text")]
    return texts, [float(bar.attrib["width"]) for bar in root.iter(f"{_SVG}rect")]


def test_bars_are_as_long_as_their_figures_and_names_are_escaped() -> None:
    texts, lengths = _drawn(chart.bars('a "b" & <c>', "note", [("x<y", 1.0), ("z", 4.0)], "ms"))

    assert texts == ['a "b" & <c>', "note", "x<y", "1.00 ms", "z", "4.00 ms"]
    assert lengths[1] == 4 * lengths[0]


def test_everything_stays_inside_and_both_colour_schemes_are_served() -> None:
    svg = chart.bars("title", "note", [("scrapy-redis", 12.34), ("Shoal", 12.34)], "ms")

    assert max(_drawn(svg)[1]) + chart.LEFT + chart.RIGHT == chart.WIDTH
    assert "prefers-color-scheme:dark" in svg


def test_the_plot_shows_the_figures_of_the_table() -> None:
    table = document.table("crawl")
    texts = _drawn(crawl.PLOT.read_text())[0]

    figures = [f"{row[1]} ms" for row in table]
    assert texts[2:] == [crawl.SHOAL, figures[0], crawl.SAME, figures[1], crawl.STOCK, figures[2]]
    assert crawl.PLOT.read_text() == crawl.plot(table)
