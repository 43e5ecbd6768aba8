"""The frontier for a command: connected, checked, and closed again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from redis.exceptions import RedisError
from scrapy.settings import BaseSettings

from crawler.errors import ServiceError
from crawler.frontier import connection, opening
from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier


@asynccontextmanager
async def session(settings: BaseSettings) -> AsyncIterator[Frontier]:
    """Raises ConfigError or ServiceError, also when Redis goes away in between."""
    frontier = Frontier(connection.connect(settings), FrontierConfig.from_settings(settings))
    try:
        await frontier.open()
        yield frontier
    except (RedisError, OSError) as error:
        where = opening.address(frontier.client)
        raise ServiceError(f"Redis at {where} failed ({type(error).__name__}): try again") from error
    finally:
        await frontier.client.aclose()
