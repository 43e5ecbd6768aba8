"""Which crawl a starting worker joins: the unfinished one, or the next generation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from scrapy.settings import BaseSettings, default_settings

from crawler.errors import ConfigError
from crawler.frontier.inspection.inspection import Inspection
from crawler.frontier.runs.generations import Generations
from crawler.frontier.server.shards import Shards, pack, unpack
from crawler.frontier.state.workers import SILENT_MS

DIGEST_CHARACTERS: Final = 16  # of the digest of an argument's value, which may be a secret


@dataclass(frozen=True, slots=True)
class Joined:
    """The crawl that a worker joins."""

    generation: str
    opened: bool  # whether this worker has just opened it
    is_over: bool = field(default=False, compare=False)  # when only checking: a worker would open the next one


async def join(
    shards: Shards,
    inspection: Inspection,
    *,
    spider: str,
    worker: str = "",
    endless: bool,
    arguments: Mapping[str, str],
    project: str = "",
    only_after: str | None = None,
) -> Joined:
    """Join the unfinished crawl of *spider*, else open a new generation; *endless* ones wait for work and never finish.

    *worker* has to be among the living already; without one it is only seen whether it might join. A new generation is
    opened after *only_after* and no other, where that is given: workers that begin together, and again after a death,
    take part in one crawl. A crawl is unfinished while anything of the spider is queued, leased or delayed, or another
    worker of it lives. Raises ConfigError when that crawl has other arguments (`-a`), or is of a spider of that name in
    another *project* ("": one without a name, which may join any).

    Known weakness: a worker killed when nothing was left counts as living for SILENT_MS; a start within that time joins
    its crawl and finds nothing to do.
    """
    seen_in = await Generations(shards).current(spider) if only_after is None else only_after
    state = "under way" if (await inspection.stats(spider)).is_pending else "over"
    mine = pack(dict(sorted(arguments.items())))
    generation, opened, theirs, whose = await shards.run(
        "join", 0, spider, worker, SILENT_MS, "endless" if endless else state, seen_in, mine, project
    )
    if (other := whose.decode(errors="replace")) != project:
        _refuse_project(spider, project, other)
    if theirs != mine:
        _refuse(spider, arguments, unpack(theirs))
    return Joined(generation.decode(), opened=bool(opened and worker), is_over=bool(opened and not worker))


def digests(arguments: Mapping[str, object]) -> dict[str, str]:
    """A spider's *arguments* as stored in the frontier: without their values, and without those of one process alone,
    such as scrapyd's `_job`."""
    return {
        name: hashlib.sha256(str(value).encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARACTERS]
        for name, value in arguments.items()
        if not name.startswith("_")
    }


def project_of(settings: BaseSettings) -> str:
    """The name by which `join` tells projects apart; "" for what Scrapy calls each that has none."""
    name = str(settings["BOT_NAME"] or "")
    return "" if name == default_settings.BOT_NAME else name


def _refuse_project(spider: str, mine: str, theirs: str) -> None:
    raise ConfigError(
        "BOT_NAME",
        mine,
        f"{theirs!r}, whose spider {spider} is crawled under this FRONTIER_KEY: two of one name would take each "
        "other's pages. Give this project its own FRONTIER_KEY and MONGODB_DATABASE, or its spider another name",
    )


def _refuse(spider: str, mine: Mapping[str, str], theirs: Mapping[str | bytes, str | bytes]) -> None:
    known = {_text(name): _text(value) for name, value in theirs.items()}
    other = sorted(name for name in mine.keys() | known.keys() if mine.get(name) != known.get(name))
    raise ConfigError(
        f"-a of spider {spider}",
        ", ".join(other),
        "the arguments its unfinished crawl was started with: all its workers share them. Let it finish first, "
        "or start another fleet with its own FRONTIER_KEY",
    )


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
