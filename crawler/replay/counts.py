"""Names of the Scrapy stats of a re-parse, which its report is made of."""

from __future__ import annotations

from typing import Final

PAGES: Final = "response_received_count"  # Scrapy's own
DISCARDED: Final = "replay/requests_discarded"  # new requests of callbacks
REFUSED: Final = "replay/requests_refused"  # downloads that callbacks wanted at once
BLOCKED: Final = "replay/pages_blocked"  # block pages and empty shells: not parsed
MISSING: Final = "replay/pages_missing"  # their file is gone
DAMAGED: Final = "replay/pages_damaged"  # their record cannot be read, or cannot be a response
DEFAULTED: Final = "replay/callbacks_defaulted"  # the stored callback is not the spider's any more
ITEMS: Final = "replay/items/{}"  # new, changed, unchanged, older: against what is stored
FIELDS: Final = "replay/fields/{}"  # changed items by field
