"""A robots.txt, read group by group as in RFC 9309 and its reference parser; Protego matches the rules of a group."""

from __future__ import annotations

import re
from typing import Final

from protego import Protego, RequestRate

MOST_READ: Final = 8  # groups kept parsed: one per user agent of this worker
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
# Field names that Protego accepts, misspellings included.
_FIELD: Final = re.compile(
    r"(?:(?P<agent>user[- ]?agent)|(?P<rule>allow|diss?all?ow|diasllow|disallaw)"
    r"|(?P<limit>crawl[- ]delay|request[- ]rate|visit[- ]time)|(?P<sitemap>site-?maps?))(?:\s*:\s*|\s+|$)",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"[^\s/,;()]+")
# str.splitlines splits there; robots.txt does not.
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
_ALL: Final = "*"


class RobotsFile:
    """The rules of one file; a group is parsed when it is asked for.

    An agent is named by its token, up to a space or slash. Lines that are no fields are ignored. A limit (Crawl-delay
    and the like) applies to the agents right above it and does not end their group: the next rules apply to all agents
    named since the last rule.
    """

    def __init__(self, lines: str) -> None:
        reader = _Reader()
        for line in _LINE_END.split(lines):
            reader.add(line)
        self.sitemaps = reader.sitemaps
        self._sections = reader.sections
        self._names = {name for agents, _ in reader.sections for name in agents if name}
        self._chosen: tuple[str, str] | None = None  # the last agent, and the name of its group
        self._read: dict[str, Protego] = {}

    def can_fetch(self, url: str, agent: str) -> bool:
        """Whether *agent* (a product token, or a User-Agent header that contains it) may fetch *url*."""
        return self._of(agent).can_fetch(url, _ALL)

    def crawl_delay(self, agent: str) -> float | None:
        """The delay in seconds."""
        return self._of(agent).crawl_delay(_ALL)

    def request_rate(self, agent: str) -> RequestRate | None:
        """Protego's form of it."""
        return self._of(agent).request_rate(_ALL)

    def _of(self, agent: str) -> Protego:
        if self._chosen is None or self._chosen[0] != agent:
            self._chosen = agent, self._name_for(agent.lower())
        name = self._chosen[1]
        if (read := self._read.get(name)) is None:
            if len(self._read) >= MOST_READ:
                self._read.clear()
            lines = [line for agents, section in self._sections if name in agents for line in section]
            read = self._read[name] = Protego.parse("\n".join([f"User-agent: {_ALL}", *lines]))
        return read

    def _name_for(self, agent: str) -> str:
        """The longest token of *agent* that names a group; else `*`."""
        return max((name for name in self._names if _is_token_of(name, agent)), key=len, default=_ALL)


def _is_token_of(name: str, agent: str) -> bool:
    return name in agent and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", agent) is not None


class _Reader:
    """Groups a file's lines: `sections` are pairs of agents and their lines."""

    def __init__(self) -> None:
        self.sections: list[tuple[list[str], list[str]]] = []
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
        if kind == "sitemap":
            self.sitemaps.append(value)
        elif kind == "agent":
            self._agent(value)
        else:
            self._has_rules = self._has_rules or kind == "rule"
            self._may_add = False
            self._said(f"{field[kind]}: {value.translate(_NO_LINE_ENDS)}")

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

    def _said(self, line: str) -> None:
        agents = self._group if self._has_rules else self._last
        if not self.sections or self.sections[-1][0] is not agents:
            self.sections.append((agents, []))
        self.sections[-1][1].append(line)
