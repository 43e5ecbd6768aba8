"""What each `scrapy` process reads and makes anew, and always the same: the zygote does it for all of its forks."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from scrapy import cmdline
from scrapy.utils import versions

from crawler.extraction import Document, extract_page, extract_product, links
from crawler.frontier.config import FrontierConfig
from crawler.frontier.server import scripts
from crawler.policy import blocks

URL = "https://shop.example.co.uk/a-lamp"
PAGE = "<title>Access denied</title><h1>A lamp</h1><b class=price>EUR 48.00</b><p>Request blocked: <a href=/b>b</a>"


def build_scripts() -> None:
    """The frontier's Lua, as workers with the usual settings send it."""
    names = [Path(path.name).stem for path in (files("crawler.frontier") / "lua").iterdir() if path.is_file()]
    for throttle in (False, True):
        built = scripts.Scripts(cast("Any", None), FrontierConfig(throttle=throttle).constants())
        for name in names:
            built.text(name)


def read_metadata() -> None:
    """What is installed: Scrapy asks for all entry points, and it and redis-py for versions."""
    version = cache(metadata.version)
    for module in (metadata, versions):
        patch.object(module, "version", version).start()
    found = cache(metadata.entry_points)
    patch.object(cmdline, "entry_points", found).start()
    found(group="scrapy.commands")
    version("redis")
    versions.get_versions()


def read_pages() -> None:
    """Expressions are compiled and tables loaded with the first page."""
    for status in (200, 403):
        blocks.detect(status, {}, PAGE.encode(), URL)
    document = Document(PAGE, URL)
    extract_product(document, URL)
    links(document, URL)
    extract_page(PAGE, URL)
