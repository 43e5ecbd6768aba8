"""A robots.txt, read group by group as in RFC 9309 and its reference parser; Protego reads its rates."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, TypeAlias

from protego import Protego, RequestRate

from crawler.policy.robots.rules import PathRules

LARGE: Final = 32 * 1024  # characters; reading more blocks the event loop for too long
MOST_READ: Final = 8  # groups kept parsed: one per user agent of this worker
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
# Field names that Protego accepts, misspellings included.
_FIELD: Final = re.compile(
    r"(?:(?P<agent>user[- ]?agent)|(?P<rule>allow|diss?all?ow|diasllow|disallaw)"
    r"|(?P<limit>crawl[- ]delay|request[- ]rate|visit[- ]time)|(?P<sitemap>site-?maps?))(?:\s*:\s*|\s+|$)",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"[^\s/,;()]+")
# str.splitlines, which Protego uses, splits there; robots.txt does not.
_NO_LINE_ENDS: Final = str.maketrans(
    {
        "\v": "%0B",
        "\f": "%0C",
        "\x1c": "%1C",
        "\x1d": "%1D",
        "\x1e": "%1E",
        "\x85": "%C2%85",
        "\u2028": "%E2%80%A8",
        "\u2029": "%E2%80%A9",
    }
)
# Hours as in "0900-1730", of Request-rate and Visit-time.
_SPAN: Final = re.compile(r"(?<![\d/])(\d\d):?(\d\d)\s*-\s*(\d\d):?(\d\d)(?!\d)")
_DELAY, _RATE, _VISIT = "crawl-delay", "request-rate", "visit-time"
_MOST_TIMES: Final = 20  # lines of each
_ALL: Final = "*"
_NAMED: Final = ("agent", "rule")  # fields whose value is one word
_ALLOW, _DISALLOW = _RULES = ("allow", "disallow")

Line: TypeAlias = tuple[str, str]  # the name of a field, and its value


class Group(NamedTuple):
    """What one agent is told. *hours* are those of Visit-time, else those of Request-rate if each has some: pairs of
    minutes of the day (UTC), the second up to a day later; none for any time."""

    rules: PathRules
    delay: float | None  # seconds
    rates: tuple[RequestRate, ...]  # in Protego's form
    hours: tuple[tuple[int, int], ...]


class RobotsFile:
    """The rules of one file; a group is parsed when it is asked for.

    An agent is named by its token, up to a space or slash. Lines that are no fields are ignored. A limit (Crawl-delay
    and the like) applies to the agents right above it and does not end their group: the next rules apply to all agents
    named since the last rule.
    """

    def __init__(self, lines: str) -> None:
        self.is_long = len(lines) > LARGE
        reader = _Reader()
        for line in _LINE_END.split(lines):
            reader.add(line)
        reader.close()
        self.sitemaps = reader.sitemaps
        self._sections = reader.sections
        self._names = {name for agents, _ in reader.sections for name in agents if name}
        self._chosen: tuple[str, str] | None = None  # the last agent, and the name of its group
        self._read: dict[str, Group] = {}

    def has_read(self, agent: str) -> bool:
        """Whether the group of *agent* is parsed."""
        return self._chosen is not None and self._chosen[0] == agent and self._chosen[1] in self._read

    def can_fetch(self, url: str, agent: str) -> bool:
        """Whether *agent* (a product token, or a User-Agent header that contains it) may fetch *url*."""
        return self.group(agent).rules.allow(url)

    def crawl_delay(self, agent: str) -> float | None:
        """The delay in seconds."""
        return self.group(agent).delay

    def group(self, agent: str) -> Group:
        """What *agent* is told, parsed when it is first asked for; may be called in a thread."""
        chosen = self._chosen
        if chosen is None or chosen[0] != agent:
            chosen = self._chosen = agent, self._name_for(agent.lower())
        name = chosen[1]
        if (read := self._read.get(name)) is None:
            if len(self._read) >= MOST_READ:
                self._read.clear()
            read = self._read[name] = _group([section for agents, section in self._sections if name in agents])
        return read

    def _name_for(self, agent: str) -> str:
        """The longest token of *agent* that names a group; else `*`."""
        return max((name for name in self._names if _is_token_of(name, agent)), key=len, default=_ALL)


def _group(sections: list[list[Line]]) -> Group:
    said = [line for section in sections for line in section]
    rules = PathRules((name == _ALLOW, value) for name, value in said if name in _RULES)
    delay = _delay(value for name, value in said if name == _DELAY)
    rates = [value for name, value in said if name == _RATE][:_MOST_TIMES]
    visits = [value for name, value in said if name == _VISIT][:_MOST_TIMES]
    parsed = [Protego.parse(f"User-agent: {_ALL}\n{_RATE}: {value}").request_rate(_ALL) for value in rates]
    return Group(rules, delay, tuple(one for one in parsed if one is not None), _hours(visits or rates))


def _delay(values: Iterable[str]) -> float | None:
    """The last that is a number of seconds, as Protego reads it."""
    delay = None
    for value in values:
        with suppress(ValueError):
            if 0 <= (seconds := float(value)) < math.inf:
                delay = seconds
    return delay


def _hours(values: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """None if one of *values* names none: it holds at any time."""
    spans = [span for value in values for span in _spans(value)]
    return tuple(spans) if spans and all(_spans(value) for value in values) else ()


def _spans(value: str) -> list[tuple[int, int]]:
    spans = []
    for found in _SPAN.finditer(value):
        hours, minutes, later, end = map(int, found.groups())
        opens, closes = 60 * hours + minutes, 60 * later + end
        if max(opens, closes) <= 1440 and max(minutes, end) < 60 and opens != closes:
            spans.append((opens % 1440, closes if closes > opens else closes + 1440))
    return spans


def _is_token_of(name: str, agent: str) -> bool:
    return name in agent and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", agent) is not None


class _Reader:
    """Groups a file's lines: `sections` are pairs of agents and their lines."""

    def __init__(self) -> None:
        self.sections: list[tuple[list[str], list[Line]]] = []
        self.sitemaps: list[str] = []
        self._group: list[str] = []  # agents since the last rule
        self._last: list[str] = []  # of these, those since the last limit
        self._has_rules = False
        self._may_add = False  # whether the next agent joins the last list

    def add(self, line: str) -> None:
        """Add one line of the file."""
        line = line.partition("#")[0].strip()
        if (field := _FIELD.match(line)) is None:
            return
        kind, value = str(field.lastgroup), line[field.end() :]
        if ":" not in field[0] and kind in _NAMED and len(value.split()) > 1:
            return  # a sentence: the reference parser forgives a missing colon before one word only
        if kind == "sitemap":
            self.sitemaps.append(value)
        elif kind == "agent":
            self._agent(value)
        else:
            self._has_rules = self._has_rules or kind == "rule"
            self._may_add = False
            name = field[kind].lower().replace(" ", "-") if kind == "limit" else field[kind].lower()
            if kind == "rule":
                self._said((name if name == _ALLOW else _DISALLOW, value))
            else:
                self._said((name, value.translate(_NO_LINE_ENDS)))

    def close(self) -> None:
        """Agents that are named last, with no rules, have a group of their own: they may fetch everything."""
        if self._group and not self._has_rules:
            self.sections.append((self._group, []))

    def _agent(self, value: str) -> None:
        if self._has_rules:
            self._group, self._has_rules = [], False
        if not self._may_add:
            self._last, self._may_add = [], True
        token = _TOKEN.match(value)
        name = token[0].lower() if token else ""
        name = name.replace(_ALL, "") or name[:1]
        self._group.append(name)
        self._last.append(name)

    def _said(self, line: Line) -> None:
        agents = self._group if self._has_rules else self._last
        if not self.sections or self.sections[-1][0] is not agents:
            self.sections.append((agents, []))
        self.sections[-1][1].append(line)
