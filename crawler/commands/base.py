"""Base classes of commands: settings as a crawl has them, spiders by name, wrong usage as one line."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from functools import partial
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings, Settings

from crawler.addon import check_dicts, completed
from crawler.commands import early_settings, misspelt, spider_stores
from crawler.commands.options import OneValue
from crawler.commands.terminal import answering
from crawler.errors import ConfigError, ShoalError, clipped, shown
from crawler.frontier.frontier import Frontier
from crawler.routing.host_rules import HostRules
from crawler.startup.announcement import QUEUES, own_places

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand as _Command
else:
    _Command = object  # Scrapy would take a subclass of its command class in this package for a command

QUOTE: Final = "'"
MIN_WIDTH: Final = 40  # below it nothing is readable

_INVALID = re.compile(r"argument (?:\S+/)*(\S+): (.+ is invalid: expected .+)", re.DOTALL)  # from an option's `type`
_NO_CHOICE = re.compile(r"argument (\S+): invalid choice: (.+) \(choose from (.+)\)", re.DOTALL)


class OneLine(_Command):
    """For a command that answers wrong usage in one line: argparse would print the whole usage first."""

    settings: Settings  # set by scrapy.cmdline before `add_options`

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """The command's own, on a parser that only says what is wrong, and whose usage fits the terminal."""
        super().add_options(parser)
        width = max(get_terminal_size().columns, MIN_WIDTH) - 2
        if parser.usage:
            parser.usage = "\n      ".join(_folded(parser.usage.split(), width - 6))
        parser.error = partial(_fail, parser)  # type: ignore[method-assign]
        parser.register("action", None, OneValue)  # of the options that follow: Scrapy's stay as they are

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """As Scrapy's, but what it answers with a traceback is named in a line."""
        given = dict(one.split("=", 1) for one in opts.set if "=" in one)
        with answering([]):
            check_dicts(self.settings, given)
        if "WORKER_PROCESS" not in given:  # its supervisor has said so
            for hint in misspelt.hints(self.settings, given):
                print(hint, file=sys.stderr)
        super().process_options(args, opts)
        with answering([]):
            early_settings.check(self.settings)


def _folded(words: Sequence[str], width: int) -> list[str]:
    """Lines of whole *words*, of *width* where these are not longer."""
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".lstrip()
    return lines


def _fail(parser: argparse.ArgumentParser, words: str) -> NoReturn:
    command = " ".join((parser.usage or "scrapy").split()[:2])
    if match := _INVALID.fullmatch(words):
        words = f"{match[1]} = {match[2]}"  # as ConfigError says it
    elif match := _NO_CHOICE.fullmatch(words):
        words = f"{match[1]} = {clipped(match[2])} is invalid: expected one of {match[3].replace(QUOTE, '')}"
    elif words.startswith("argument "):
        words += f" (see `{command} --help`)"
    parser.exit(2, f"{command}: {words}\n")


class FleetCommand(OneLine):
    """To precede Scrapy's class in a command's bases: gives it the settings of a fleet crawl."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False, "FRONTIER_ENABLED": True}

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """As Scrapy's, then applies the project's add-ons."""
        super().process_options(args, opts)
        with answering(args):
            self.settings = completed(early_settings.with_addons(self.settings)).settings

    def crawler_of(self, name: str) -> Crawler:
        """A crawler with the settings of a crawl of that spider; raises ShoalError if there is no such spider."""
        return completed(self.settings, spider_class(self.settings, name))

    def scheduled_crawler(self, name: str) -> Crawler:
        """As crawler_of; raises ShoalError for a spider whose workers lease elsewhere than `scrapy serve` pushes."""
        crawler = self.crawler_of(name)
        if own := own_places(crawler.settings, QUEUES):
            words = "which `scrapy serve` does not push to: give it to both this command and a `scrapy serve` with -s"
            raise ShoalError(f"spider {name} has {' and '.join(own)} of its own, {words}")
        return crawler

    def follow(self, name: str | None) -> None:
        """Look where a crawl of spider *name* does, which may have a Redis, a key or a database of its own.

        Without such a spider here, as after it was deleted, the project's settings stay; also, with a line that says
        so, where the project's spiders cannot be imported: an operator has to see the queue then, too.
        """
        try:
            if name and name in early_settings.spiders(self.settings).list():
                self.settings = self.crawler_of(name).settings
        except ShoalError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a module of theirs raises
            words = f"its own settings are not read, the project's spiders cannot be imported: {error!r:.200}"
            print(f"spider {name}: {words}", file=sys.stderr)

    def check_collection(self, name: str, known: Collection[str]) -> None:
        """Raise ShoalError if *name* is none of the *known* collections."""
        if name not in known:
            self.point_elsewhere(spider_stores.STORES)
            raise ShoalError(f"there is no collection {shown(name)}, there are: {', '.join(sorted(known))}")

    async def check_group(self, frontier: Frontier, host: str) -> None:
        """Raise ConfigError for a *host* that is in a politeness group of another name, which its requests have; not
        where some have this name, as `download_slot` or a spider's own settings give it."""
        if not host or (group := HostRules.from_settings(self.settings).group_of(host)) == host:
            return
        if not await frontier.inspection.knows(host):
            raise ConfigError("--host", host, f"{group}, the politeness group that it is in, with all hosts of that")

    def point_elsewhere(self, places: Sequence[str]) -> None:
        """Nothing was found: say on standard error where spiders that have *places* of their own would be seen."""
        for hint in spider_stores.hints(self.settings, places):
            print(hint, file=sys.stderr)


def one_spider(args: Sequence[str]) -> str:
    """The spider that a command is called with; raises UsageError if it is not one name."""
    if len(args) != 1:
        raise UsageError("name one spider, `scrapy list` shows them")
    return args[0]


def spider_class(settings: BaseSettings, name: str) -> type[Spider]:
    """The spider of that name; raises ShoalError if there is none."""
    loader = early_settings.spiders(settings)
    try:
        return loader.load(name)
    except KeyError:
        names = {one.lower(): one for one in loader.list()}
        close = "".join(f" (did you mean {names[one]!r}?)" for one in get_close_matches(name.lower(), names, 1))
        raise ShoalError(f"there is no spider {shown(name)}{close}, `scrapy list` shows them") from None


async def check_known(settings: BaseSettings, frontier: Frontier, name: str) -> None:
    """Raise ShoalError if neither the project nor Redis knows a spider of that name: one that is deleted may have left
    requests and letters behind."""
    known = await frontier.inspection.stats(name)
    if all(spider != name for spider, _ in known.generations):
        spider_class(settings, name)
