"""Names of the Scrapy stats from which a re-parse makes its report."""

from __future__ import annotations

from typing import Final

PAGES: Final = "response_received_count"  # Scrapy's own
DISCARDED: Final = "replay/requests_discarded"  # requests that callbacks yielded
REFUSED: Final = "replay/requests_refused"  # downloads that callbacks asked for directly
BLOCKED: Final = "replay/pages_blocked"  # block pages and empty shells: not parsed
MISSING: Final = "replay/pages_missing"  # their file is gone
DAMAGED: Final = "replay/pages_damaged"  # their record cannot be read, or is no valid response
DEFAULTED: Final = "replay/callbacks_defaulted"  # the spider no longer has the stored callback
FAILED: Final = "replay/items_failed"  # a pipeline raised, or MongoDB stayed away until the end
ITEMS: Final = "replay/items/{}"  # new, changed, unchanged, older than what is stored
FIELDS: Final = "replay/fields/{}"  # changed items by field
