"""Every setting of the project: value, unit, why it departs from Scrapy's default, and who reads it.

`local`, `production` and `test` only override; the environment is read here and nowhere else.
Names end in their unit. A value out of range stops the start with one line that says what is allowed.
"""

import os
from pathlib import Path

PROJECT_DIR = Path(__file__).resolve().parent.parent

BOT_NAME = "shoal"
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"
COMMANDS_MODULE = "crawler.commands"
TEMPLATES_DIR = str(PROJECT_DIR / "crawler" / "templates")

# --- Servers ---------------------------------------------------------------------------------------------
# Empty = start (or join) the bundled servers of this machine. Readers: frontier and storage connection.py
REDIS_URL = os.environ.get("REDIS_URL", "")
MONGODB_URI = os.environ.get("MONGODB_URI", "")
MONGODB_DATABASE = os.environ.get("MONGODB_DATABASE", "shoal")
EMBEDDED_DATA_DIR = os.environ.get("EMBEDDED_DATA_DIR", str(PROJECT_DIR / ".scrapy" / "services"))

# --- Frontier --------------------------------------------------------------------------------------------

# --- Politeness ------------------------------------------------------------------------------------------

# --- Spiders, extraction ---------------------------------------------------------------------------------

# --- Items, storage --------------------------------------------------------------------------------------
# What an item passes through, in this order, when our spiders yield it. Reader: FRONTIER_SPIDER_SETTINGS
FRONTIER_ITEM_PIPELINES = {
    "crawler.pipelines.clean.CleanPipeline": 100,
    "crawler.pipelines.validate.ValidatePipeline": 200,
    "crawler.pipelines.dedupe.DedupePipeline": 300,
    "crawler.pipelines.mongodb.MongoPipeline": 900,  # last: what other pipelines change is stored too
}
# Characters kept of one text field, 100 to 4,000,000; a cut is noted in `issues`. Reader: pipelines/clean.py
ITEM_TEXT_MAX_CHARS = 100_000
# Issues that keep an item out of its collection (it goes to rejected_items); any other issue is only noted on
# the item. Names: crawler/policy/validation.py. Reader: pipelines/validate.py
ITEM_FATAL_ISSUES = [
    "missing_url",
    "invalid_url",
    "missing_title",
    "invalid_price",
    "negative_price",
    "wrong_type",
    "empty_page",
]
# Items remembered by a worker to spare a second write of the same content, and for how many seconds between
# the two fetches; a later one is a recrawl, which moves last_seen_at. 0 to 10,000,000 items (0 = off), 1 to
# 86,400 s. Reader: pipelines/dedupe.py
ITEM_DEDUPE_SIZE = 10_000
ITEM_DEDUPE_SECONDS = 60
# Largest stored item in MiB: MongoDB takes 16, and a changed document holds its earlier states until they are
# on record. 0.01 to 5. Reader: storage/config.py
ITEM_MAX_MB = 4
# One bulk write takes up to this many items, or what came in this many ms. 1 to 10,000 each; a page is
# confirmed only after its batch, so a longer wait holds more leases. Reader: storage/config.py
STORAGE_BATCH_SIZE = 500
STORAGE_BATCH_MS = 50
# How long to wait for MongoDB to be reachable, then for its reply (0.1 to 60, 0.1 to 600), and the longest
# pause between two tries while it is away (0.05 to 600), in seconds. Reader: storage/
STORAGE_CONNECT_SECONDS = 5
STORAGE_REPLY_SECONDS = 60
STORAGE_RETRY_MAX_SECONDS = 15
# Collections whose changes are kept with old and new values, and where. Texts of pages would double the
# database, so they are not here. Reader: storage/writer.py
CHANGE_HISTORY = {"products": "product_changes"}
# Days until an item that is no longer rejected again is forgotten. 1 to 3650. Reader: storage/indexes.py
REJECTED_ITEMS_DAYS = 30

# --- Observing -------------------------------------------------------------------------------------------

# --- Speed -----------------------------------------------------------------------------------------------

# --- Safety ----------------------------------------------------------------------------------------------
