"""What Scrapy finds of Shoal in any project: the commands, as entry points that load on use.

It is outside the package because a Scrapy project may have its own package named `crawler`. Either may then hide the
other: in such a project Scrapy's commands stay Scrapy's, and Shoal's say what to do. So they do beside a Scrapy that is
too old for the package, which another requirement may have brought back.
"""

from __future__ import annotations

import argparse
import gc
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scrapy import __version__, version_info
from scrapy.commands import ScrapyCommand
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.commands.genspider import Command as ScrapyGenspider
from scrapy.exceptions import UsageError
from scrapy.utils.project import inside_project

ADDON_PACKAGE = "crawler."
SCRAPYS: dict[str, type[ScrapyCommand]] = {"crawl": ScrapyCrawl, "genspider": ScrapyGenspider}
SCRAPY = "2.19.0"
OLD = f"Shoal needs Scrapy {SCRAPY}, and {__version__} is installed here: `pip install scrapy=={SCRAPY}`"
HIDDEN = "this project's own package `crawler` hides Shoal's, which has that name too: rename one of them"


class Lazy:
    """Stands for the command *name*, which is imported as soon as Scrapy asks for any of its attributes."""

    name = ""

    def __init__(self) -> None:
        self.__dict__["_command"] = None

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._loaded(), attribute)

    def __setattr__(self, attribute: str, value: Any) -> None:
        setattr(self._loaded(), attribute, value)

    def _loaded(self) -> ScrapyCommand:
        if self.__dict__["_command"] is None:
            self.__dict__["_command"] = load(self.name)
        command: ScrapyCommand = self.__dict__["_command"]
        return command


def __getattr__(name: str) -> type[Lazy]:
    """The class for the entry point *name*, as `scrapy` spells the command."""
    if name.startswith("_"):
        raise AttributeError(name)
    return type(name, (Lazy,), {"name": name.replace("_", "-")})


def load(name: str) -> ScrapyCommand:
    """The command *name*: Shoal's where that can be had, else Scrapy's, else one that says why not."""
    if why := _obstacle():
        return _guarded(SCRAPYS[name], why)() if name in SCRAPYS else Refusing(name, why)
    with _uncollected():
        command: type[ScrapyCommand] = importlib.import_module(f"crawler.commands.{name}").Command
    if command.requires_project and not inside_project():
        return Refusing(name, f"`scrapy {name}` needs a project: there is no scrapy.cfg here or above")
    return command()


@contextmanager
def _uncollected() -> Iterator[None]:
    """Modules live as long as the process: to look for garbage among them took a third of a command's CPU. At its end
    Python looks as usual, which is when files that a spider has left open are written."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def _obstacle() -> str:
    """Why Shoal's package cannot be had here; "" if it can."""
    if not _is_ours():
        return HIDDEN
    return OLD if version_info[:2] < tuple(map(int, SCRAPY.split(".")[:2])) else ""


def _is_ours() -> bool:
    """Whether `crawler` is Shoal's package."""
    try:
        return getattr(importlib.import_module("crawler"), "SHOAL", False) is True
    except Exception:  # noqa: BLE001 - somebody's own package, which may raise anything
        return False


def _guarded(command: type[ScrapyCommand], why: str) -> type[ScrapyCommand]:
    """Scrapy's own *command*, which says *why* where the project asks for an add-on that cannot be had."""

    class Guarded(command):  # type: ignore[misc,valid-type]
        def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
            super().process_options(args, opts)
            if any(str(addon).startswith(ADDON_PACKAGE + "addon.") for addon in self.settings.getdict("ADDONS")):
                raise UsageError(f"ADDONS names Shoal, but {why}", print_help=False)

    return Guarded


class Refusing(ScrapyCommand):
    """A command that cannot run here."""

    requires_crawler_process = False

    def __init__(self, name: str, reason: str) -> None:
        super().__init__()
        self._name = name
        self._reason = reason

    def short_desc(self) -> str:
        return f"(not here: {self._reason.partition(':')[0]})"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2."""
        raise UsageError(self._reason, print_help=False)
