"""The storage settings, read and checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from crawler import config
from crawler.errors import ConfigError
from crawler.items import PageItem, ProductItem
from crawler.storage.collection_names import is_collection

LINKABLE: Final = frozenset({ProductItem.collection, PageItem.collection})  # others cannot be recognised


@dataclass(frozen=True, slots=True)
class StorageConfig:
    """What the writer may do and how long it waits; units are in the names."""

    batch_size: int = 500
    batch_ms: int = 50
    item_max_bytes: int = 4 * 2**20
    retry_max_seconds: float = 15.0
    rejected_days: int = 30
    run_items_kept: int = 30
    spool_dir: str = ""  # none
    spool_max_bytes: int = 2**30
    spool_high_water: float = 0.8
    restate: bool = False
    link_duplicates: frozenset[str] = LINKABLE
    history: Mapping[str, str] = field(default_factory=lambda: {"products": "product_changes"})

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Raises ConfigError naming the setting, its value and what is expected."""
        return cls(
            batch_size=config.integer(settings, "STORAGE_BATCH_SIZE"),
            batch_ms=config.integer(settings, "STORAGE_BATCH_MS"),
            item_max_bytes=int(config.number(settings, "ITEM_MAX_MB") * 2**20),
            retry_max_seconds=config.number(settings, "STORAGE_RETRY_MAX_SECONDS"),
            rejected_days=config.integer(settings, "REJECTED_ITEMS_DAYS"),
            run_items_kept=config.integer(settings, "RUN_ITEMS_KEPT"),
            spool_dir=str(settings.get("SPOOL_DIR") or ""),
            spool_max_bytes=int(config.number(settings, "SPOOL_MAX_MB") * 2**20),
            spool_high_water=config.number(settings, "SPOOL_HIGH_WATER"),
            restate=config.boolean(settings, "STORAGE_RESTATE"),
            link_duplicates=_linked(settings),
            history=_history(settings),
        )


def _linked(settings: Mapping[str, Any]) -> frozenset[str]:
    value = settings.get("LINK_DUPLICATES_OF") or ()
    names = value.split(",") if isinstance(value, str) else value
    if isinstance(names, (list, tuple, set, frozenset)) and set(map(str, names)) <= LINKABLE:
        return frozenset(names)
    raise ConfigError("LINK_DUPLICATES_OF", value, "only names of " + ", ".join(sorted(LINKABLE)))


def _history(settings: Mapping[str, Any]) -> dict[str, str]:
    value = settings.get("CHANGE_HISTORY")
    if isinstance(value, Mapping) and _is_history(value):
        return dict(value)
    allowed = "a dict of collection names, items to their changes, like {'products': 'product_changes'}, not to items"
    raise ConfigError("CHANGE_HISTORY", value, allowed)


def _is_history(value: Mapping[Any, Any]) -> bool:
    """Whether all are names of collections, and no changes would be taken for items."""
    are_names = all(map(is_collection, [*value, *value.values()]))
    return are_names and LINKABLE.union(value).isdisjoint(value.values())
