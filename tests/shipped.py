"""The settings of this project as a crawl of the fleet has them."""

from __future__ import annotations

from scrapy.settings import Settings

from crawler.addon import complete


def shipped(module: str = "settings.base", /, **changed: object) -> Settings:
    """Those of *module*, *changed* as on the command line, completed by the add-on."""
    settings = Settings()
    settings.setmodule(module, priority="project")
    settings.setdict({"FRONTIER_ENABLED": True} | changed, priority="cmdline")
    complete(settings)
    return settings
