"""The indexes of what items are written to, by collection."""

from __future__ import annotations

import logging

from pymongo.errors import OperationFailure

from crawler.storage import indexes
from crawler.storage.collection_names import DUPLICATES, REJECTED, RUN_ITEMS
from crawler.storage.config import StorageConfig
from crawler.storage.connection import Database, first_clause
from crawler.storage.items import bulk, duplicates, run_items

logger = logging.getLogger(__name__)


async def ensure(database: Database, config: StorageConfig, name: str) -> bool:
    """Create those of the collection *name*; what MongoDB refuses is logged, as writes need none of them. Whether it
    has them."""
    try:
        await _ensure(database, config, name)
    except OperationFailure as error:
        if not bulk.is_refusal(error):
            raise
        text = "MongoDB refuses indexes of %s, which are read more slowly without: %.300s. Mend that, and start again"
        logger.error(text, name, first_clause(error))
        return False
    return True


async def _ensure(database: Database, config: StorageConfig, name: str) -> None:
    if name == REJECTED:
        await indexes.ensure_expiry(database, REJECTED, config.rejected_days)
    elif name == RUN_ITEMS:
        await run_items.ensure(database)
    elif name == DUPLICATES:
        await duplicates.ensure_links(database)
    elif name in config.history.values():
        await indexes.ensure_history(database[name])
    else:
        await indexes.ensure_items(database[name])
        if name in config.link_duplicates:
            await duplicates.ensure(database, name)
