"""Charts as SVG: what a dashboard's panels show, drawn without Grafana."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from tests.integration.monitoring.prometheus_server import Series

WIDTH, HEIGHT, COLUMNS = 380, 222, 3
LEFT, TOP, RIGHT, BOTTOM = 46, 26, 10, 56  # around the plot of a panel
HEADROOM: Final = 1.08  # a line at the most of a panel is not its frame
COLORS: Final = ("#2a78b8", "#d9822b", "#2f9e6e", "#b5475d", "#7a5cb0", "#8a6d3b", "#4b9aa5", "#999999")
MOST_LEGENDS: Final = 5
LONGEST_LEGEND: Final = 19  # characters
TICKS: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600)  # seconds between two marks of the time


Lines = dict[str, list[tuple[float, float]]]  # legend -> its points (seconds, value)


@dataclass(frozen=True)
class Chart:
    """One panel."""

    title: str
    unit: str
    lines: Lines


def legends(pattern: str, series: Series) -> Lines:
    """*series* under the names that Grafana gives them."""
    named: Lines = {}
    for labels, points in series.items():
        legend = pattern
        for name, value in json.loads(labels).items():
            legend = legend.replace("{{" + name + "}}", value)
        named[legend] = points
    return named


def drawn(title: str, note: str, charts: Sequence[Chart], begin: float, end: float) -> str:
    """The whole page."""
    rows = -(-len(charts) // COLUMNS)
    width, height = COLUMNS * WIDTH + 20, rows * HEIGHT + 60
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="24" font-size="17" fill="#222">{escape(title)}</text>',
        f'<text x="12" y="42" font-size="11" fill="#666">{escape(note)}</text>',
    ]
    for number, chart in enumerate(charts):
        x, y = 10 + number % COLUMNS * WIDTH, 50 + number // COLUMNS * HEIGHT
        parts.append(f'<g transform="translate({x},{y})">{_chart(chart, begin, end)}</g>')
    return "\n".join([*parts, "</svg>", ""])


def _chart(chart: Chart, begin: float, end: float) -> str:
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    most = max(map(_most, chart.lines.values()), default=0.0) or 1.0
    top = most * HEADROOM
    parts = [
        f'<text x="4" y="16" font-size="12" fill="#222">{escape(chart.title)}</text>',
        f'<rect x="{LEFT}" y="{TOP}" width="{wide}" height="{high}" fill="#fafafa" stroke="#ddd"/>',
        *(_level(share, most, high, wide, chart.unit) for share in (0.5, 1.0)),
        _text(LEFT - 4, TOP + high + 3, "0", "end"),
        *_times(end - begin, high, wide),
    ]
    if not chart.lines:
        parts.append(_text(LEFT + wide / 2, TOP + high / 2, "nothing", "middle"))
    for number, (legend, points) in enumerate(sorted(chart.lines.items(), key=lambda line: -_most(line[1]))):
        color = COLORS[number % len(COLORS)]
        place = " ".join(
            f"{LEFT + (at - begin) / (end - begin) * wide:.1f},{TOP + high - value / top * high:.1f}"
            for at, value in points
            if value == value
        )
        parts.append(f'<polyline points="{place}" fill="none" stroke="{color}" stroke-width="1.4"/>')
        if number < MOST_LEGENDS:
            x, y = LEFT + number % 3 * 110, TOP + high + 28 + number // 3 * 13
            parts.append(f'<rect x="{x}" y="{y - 7}" width="8" height="8" fill="{color}"/>')
            parts.append(_text(x + 11, y, _short(legend)))
    if len(chart.lines) > MOST_LEGENDS:
        parts.append(_text(LEFT + 220, TOP + high + 41, f"and {len(chart.lines) - MOST_LEGENDS} more"))
    return "".join(parts)


def _most(points: Sequence[tuple[float, float]]) -> float:
    """The largest value that is one."""
    return max((value for _, value in points if value == value), default=0.0)


def _short(legend: str) -> str:
    return legend if len(legend) <= LONGEST_LEGEND else legend[: LONGEST_LEGEND - 1] + "\u2026"


def _level(share: float, most: float, high: float, wide: float, unit: str) -> str:
    """A line across the plot at that share of its most, and what it stands for."""
    y = TOP + high * (1 - share / HEADROOM)
    line = f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + wide}" y2="{y:.1f}" stroke="#e6e6e6"/>'
    return line + _text(LEFT - 4, round(y + 3, 1), _value(share * most, unit), "end")


def _times(seconds: float, high: float, wide: float) -> list[str]:
    """Marks of the time since the first second, about four."""
    every = next((tick for tick in TICKS if seconds / tick <= 4.5), TICKS[-1])
    marks = range(0, int(seconds) + 1, every)
    words = {at: f"{at // 60} min" if at and at % 60 == 0 else f"{at} s" if at else "0" for at in marks}
    return [_text(LEFT + at / seconds * wide, TOP + high + 12, word, "middle") for at, word in words.items()]


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="9" text-anchor="{anchor}" fill="#555">{escape(words)}</text>'


def _value(value: float, unit: str) -> str:
    if unit == "percentunit":
        return f"{value:.0%}"
    if unit == "s":
        return f"{value:.3g} s" if value >= 1 else f"{value * 1000:.3g} ms"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {letter}{'B' if unit in {'bytes', 'Bps'} else ''}"
    return f"{value:.3g}{'/s' if unit == 'reqps' else ''}"
