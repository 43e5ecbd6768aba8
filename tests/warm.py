"""What each `scrapy` process reads and makes anew, and always the same: the zygote does it for all of its forks."""

from __future__ import annotations

import inspect
import logging
import ssl
from copy import deepcopy
from functools import cache
from importlib import metadata
from typing import Any, cast
from unittest.mock import patch

from scrapy import cmdline
from scrapy.settings import BaseSettings, SettingsAttribute
from scrapy.utils import versions

from crawler import urls
from crawler.extraction import Document, extract_page, extract_product, links
from crawler.frontier.config import FrontierConfig
from crawler.frontier.server import scripts
from crawler.policy import blocks

UNCHANGING = {str, int, float, bool, type(None), bytes}
_command_classes = cmdline._iter_command_classes
URL = "https://shop.example.co.uk/a-lamp"
PLAIN = b"<title>A lamp</title><p>In stock"
PAGE = "<title>Access denied</title><h1>A lamp</h1><b class=price>EUR 48.00</b><p>Request blocked: <a href=/b>b</a>"


def build_scripts() -> None:
    """The frontier's Lua, as workers with the usual settings send it."""
    for throttle in (False, True):
        built = scripts.Scripts(cast("Any", None), FrontierConfig(throttle=throttle).constants())
        for name in scripts.operations():
            built.text(name)


def find_commands() -> None:
    """The classes of commands, which Scrapy looks for in all that each of their modules names."""
    found = cache(lambda module: tuple(_command_classes(module)))
    patch.object(cmdline, "_iter_command_classes", found).start()
    found("scrapy.commands")


def set_levels_faster() -> None:
    """To set a level empties the caches of all loggers, of which there are hundreds: most are set to what they have."""
    set_level = logging.Logger.setLevel

    def changed(logger: logging.Logger, level: int | str) -> None:
        if logger.level != level:
            set_level(logger, level)

    patch.object(logging.Logger, "setLevel", changed).start()


def copy_settings_faster() -> None:
    """A process copies its settings six times, and most of what is in them cannot change: those are shared."""
    SettingsAttribute.__deepcopy__ = _copied_attribute  # type: ignore[attr-defined]
    BaseSettings.__deepcopy__ = _copied_settings  # type: ignore[attr-defined]


def _copied_attribute(self: SettingsAttribute, memo: dict[int, Any]) -> SettingsAttribute:
    made = object.__new__(type(self))
    made.value = self.value if type(self.value) in UNCHANGING else deepcopy(self.value, memo)
    made.priority = self.priority
    return made


def _copied_settings(self: BaseSettings, memo: dict[int, Any]) -> BaseSettings:
    made = memo[id(self)] = object.__new__(type(self))
    made.__dict__.update(deepcopy({name: value for name, value in vars(self).items() if name != "attributes"}, memo))
    made.attributes = {name: _copied_attribute(one, memo) for name, one in self.attributes.items()}
    return made


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
        blocks.detect(status, {}, PLAIN, URL)
    document = Document(PAGE, URL)
    extract_product(document, URL)
    links(document, URL)
    extract_page(PAGE, URL)
    urls.registrable(urls.group(URL))


def read_sources() -> None:
    """What cuts a file of Python into lines and functions, for the check of a spider's source."""
    inspect.getsourcelines(SettingsAttribute)
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_default_certs()
