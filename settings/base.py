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

# --- Observing -------------------------------------------------------------------------------------------

# --- Speed -----------------------------------------------------------------------------------------------

# --- Safety ----------------------------------------------------------------------------------------------
