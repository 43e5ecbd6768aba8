"""Names of collections: which MongoDB takes, and those that are not of an item class; docs/storage.md says what is in
each."""

from __future__ import annotations

import re
from typing import Final

UNTYPED: Final = "items"  # items that are not of our classes
REJECTED: Final = "rejected_items"
DUPLICATES: Final = "duplicates"
PAGE_VERSIONS: Final = "validators"
RUN_ITEMS: Final = "run_items"
RECRAWL: Final = "recrawl"
ARCHIVE: Final = "archive"
ARCHIVE_FILES: Final = "archive_files"
ATTEMPTS: Final = "attempts"
SCHEMA: Final = "schema"

# Ids that are not URLs.
NO_PAGES: Final = frozenset(
    {
        *(UNTYPED, REJECTED, DUPLICATES, PAGE_VERSIONS, RUN_ITEMS),
        *(RECRAWL, ARCHIVE, ARCHIVE_FILES, ATTEMPTS, SCHEMA),
    }
)
# Documents that say in `at` when they were made, and no `last_changed_at`.
RECORDS: Final = frozenset({REJECTED, ARCHIVE, ATTEMPTS, PAGE_VERSIONS})
_COLLECTION: Final = re.compile(r"(?!system\.)[^$\0.](?:[^$\0]{0,118}[^$\0.])?")


def is_collection(name: object) -> bool:
    """Whether MongoDB accepts *name* as a collection; with another name every write would fail, again and again."""
    return isinstance(name, str) and name.isprintable() and _COLLECTION.fullmatch(name) is not None
