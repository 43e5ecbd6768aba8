"""Reads a Dockerfile, as far as ours goes: stages and their steps in order."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from typing import Final

_KNOWN: Final = {"RUN", "COPY", "ENV", "WORKDIR", "USER", "ENTRYPOINT", "CMD", "EXPOSE", "HEALTHCHECK"}


@dataclass
class Stage:
    """A FROM and what follows it."""

    name: str
    base: str
    steps: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Copy:
    """What a COPY copies, from the checkout or from another stage."""

    stage: str
    sources: list[str]
    target: str


def stages(text: str) -> dict[str, Stage]:
    """By name. Raises ValueError for an instruction that nobody here knows."""
    found: dict[str, Stage] = {}
    arguments: dict[str, str] = {}
    stage: Stage | None = None
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        instruction, _, rest = line.strip().partition(" ")
        if instruction == "ARG" and stage is None:
            name, _, value = rest.partition("=")
            arguments[name] = value
        elif instruction == "FROM":
            base, _, name = re.sub(r"\$\{(\w+)\}", lambda one: arguments[one[1]], rest).partition(" AS ")
            found[name] = stage = Stage(name, base)
        elif instruction in _KNOWN and stage is not None:
            stage.steps.append((instruction, rest.strip()))
        elif instruction:
            raise ValueError(f"line {line!r}: an instruction that {__name__} does not know")
    return found


def copy(rest: str) -> Copy:
    """A COPY's arguments."""
    words = shlex.split(rest)
    stage = words.pop(0).removeprefix("--from=") if words[0].startswith("--from=") else ""
    return Copy(stage, words[:-1], words[-1])


def environment(rest: str) -> dict[str, str]:
    """An ENV's variables."""
    return dict(word.split("=", 1) for word in shlex.split(rest))


def command(rest: str) -> list[str]:
    """The exec form of ENTRYPOINT and CMD."""
    return [str(word) for word in json.loads(rest)]
