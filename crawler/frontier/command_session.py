"""The frontier for a command: connected, checked, and closed afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from scrapy.settings import BaseSettings

from crawler.errors import ServiceError
from crawler.frontier.config import FrontierConfig
from crawler.frontier.errors import FrontierError
from crawler.frontier.frontier import Frontier
from crawler.frontier.server import connection, server_check
from crawler.utils import tasks


@asynccontextmanager
async def session(settings: BaseSettings) -> AsyncIterator[Frontier]:
    """Raises ConfigError or ServiceError, also if Redis goes away meanwhile."""
    await tasks.apart(partial(connection.arguments, settings))  # the bundled server may take minutes to start
    frontier = Frontier(connection.connect(settings), FrontierConfig.from_settings(settings))
    try:
        await frontier.open()
        yield frontier
    except FrontierError as error:
        raise ServiceError(server_check.explained(frontier.client, error)) from error
    finally:
        await frontier.client.aclose()
