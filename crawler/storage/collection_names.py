"""The names of the collections that are not of an item class; docs/storage.md says what is in each."""

from __future__ import annotations

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
