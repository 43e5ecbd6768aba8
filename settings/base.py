"""This deployment: where it departs from Scrapy and from crawler/defaults.py, and what the environment says.

`local`, `production` and `test` only override. The environment is read here and nowhere else.
"""

import os
from pathlib import Path

PROJECT_DIR = Path(__file__).resolve().parent.parent

# --- Project ---------------------------------------------------------------------------------------------
# Scrapy's names for what stands where. Reader: Scrapy
BOT_NAME = "shoal"
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"
# What puts the fleet's components and the defaults above in their places. Reader: Scrapy
ADDONS = {"crawler.addon.Shoal": 500}

# --- Departures ------------------------------------------------------------------------------------------
# Who we are; name a contact before you crawl in earnest. Reader: Scrapy
USER_AGENT = os.environ.get("USER_AGENT", "shoal/0.1 (Scrapy; set USER_AGENT to name a contact)")
# The name that we look for in robots.txt files. Reader: middlewares/downloader/robots.py
ROBOTSTXT_USER_AGENT = os.environ.get("ROBOTSTXT_USER_AGENT", "shoal")
# Rules of the sites that `products` crawls. Reader: policy/rules/domains.py
DOMAINS_FILE = os.environ.get("DOMAINS_FILE", str(PROJECT_DIR / "settings" / "domains.toml"))
# One jar for everything costs time on every page. Reader: Scrapy, middlewares/downloader/cookies.py
COOKIES_ENABLED = False
# The least level of lines that are logged. Reader: Scrapy
LOG_LEVEL = os.environ.get("LOG_LEVEL", "INFO")

# --- Environment -----------------------------------------------------------------------------------------
# Settings that the environment may name as they are; what it leaves out has the default of crawler/defaults.py.
FROM_ENVIRONMENT = (
    "REDIS_URL",
    "MONGODB_URI",
    "MONGODB_DATABASE",
    "EMBEDDED_DATA_DIR",
    "TIER",
    "TIERS_SERVED",
    "DOWNLOAD_DELAY",
    "CONCURRENT_REQUESTS_PER_DOMAIN",
    "CONCURRENT_REQUESTS",
    "PROXY_POOLS_FILE",
    "PROXY_POOL",
    "SPOOL_DIR",
    "ARCHIVE_PAGES",
    "ARCHIVE_DIR",
    "ARCHIVE_URI",
    "RUN_WEBHOOK_URL",
    "RUN_WEBHOOK_SECRET",
    "TRACES_RATIO",
    "TRACES_URL",
    "METRICS_HOST",
    "METRICS_PORT",
    "FLEET_WORKERS",
    "SCALING_REQUESTS_PER_WORKER",
    "SCALING_HOLD_SECONDS",
    "SERVE_HOST",
    "SERVE_PORT",
    "API_PROVIDERS",
    "BROWSER_EXECUTABLE",
    "BROWSER_CONCURRENCY",
    "BROWSER_MEMORY_MB",
)
globals().update({name: os.environ[name] for name in FROM_ENVIRONMENT if name in os.environ})
if "SHOAL_ALLOWED_NETWORKS" in os.environ:
    GUARD_ALLOWED_NETWORKS = os.environ["SHOAL_ALLOWED_NETWORKS"]
# Secrets of scraping APIs: API_KEY_ACME is the {key} of provider "acme". Reader: handlers/api/handler.py
API_KEYS = {name[8:]: value for name, value in os.environ.items() if name.startswith("API_KEY_")}
