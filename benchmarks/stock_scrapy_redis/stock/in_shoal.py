"""The same with Shoal's add-on, which stores the items itself."""

from .settings import *  # noqa: F403 - as settings are extended

ADDONS = {"crawler.addon.Shoal": 500}
ITEM_PIPELINES = {}
