"""Workers of one spider that store in different databases: they share its pages, so that each database has some."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final

from crawler import config
from crawler.frontier.messages import WorkerState

FIELD: Final = "database"  # of a heartbeat; those of older releases lack it

logger = logging.getLogger(__name__)


def database_of(settings: Mapping[str, Any]) -> str:
    """The name of the database that a worker stores in; "" for none."""
    return config.text(settings, "MONGODB_DATABASE") if config.boolean(settings, "SHOAL_STORE") else ""


def compare(mine: str, spider: str, workers: Iterable[WorkerState]) -> None:
    """Name one of the other *workers* that stores elsewhere, if there is any."""
    for other in workers:
        theirs = other.info.get(FIELD, mine)
        if other.info.get("spider") == spider and theirs != mine:
            text = "Items of %s are stored in %s by this worker, in %s by %s: give all the same %s"
            logger.warning(text, spider, *map(_named, (mine, theirs)), other.name, "MONGODB_DATABASE and SHOAL_STORE")
            return


def _named(database: object) -> str:
    return f"the database {database}" if database else "no database"
