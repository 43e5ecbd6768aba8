"""`scrapy check-fleet`: finds what cannot work in a fleet before the first page shows it."""

from __future__ import annotations

import argparse
from typing import Any

from scrapy.commands import ScrapyCommand

from crawler.commands import misspelt, preflight
from crawler.commands.base import FleetCommand, one_spider, spider_class
from crawler.commands.options import named
from crawler.commands.terminal import answering
from crawler.handlers import guard_check
from crawler.startup.fleet_check import findings, make_findings, start_findings
from crawler.utils import tasks
from crawler.worker.scheduler import in_use


class Command(FleetCommand, ScrapyCommand):
    """Reads the spider's source and settings and builds its first start requests; sends nothing."""

    def syntax(self) -> str:
        return "<spider> [-a NAME=VALUE]"

    def short_desc(self) -> str:
        return "Name what a spider uses that cannot work in a fleet"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        how: dict[str, Any] = {"action": "append", "default": [], "metavar": "NAME=VALUE", "type": named}
        parser.add_argument("-a", dest="spargs", help="as in `crawl`", **how)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 1 if something was found, 2 for an invalid setting."""
        with answering(args):
            spider = one_spider(args)
            found = self._look(spider, dict(opts.spargs))
            for one in found:
                print(one)
            print(f"{len(found)} found" if found else f"{spider} can work in a fleet, as far as can be seen")
            self.exitcode = 1 if found else 0

    def _look(self, name: str, arguments: dict[str, str]) -> list[str]:
        spider = spider_class(self.settings, name)
        preflight.check_values(self.crawler_of(name).settings, spider)
        crawler = preflight.with_components(self.settings, spider)
        if not in_use(crawler.settings):
            return []
        guard_check.check(crawler.settings)
        found = [*findings(crawler), *make_findings(crawler, arguments)]
        if crawler.spider is not None:
            found += tasks.run(start_findings(crawler.spider))
        return [*map(str, found), *misspelt.of_spider(crawler.spidercls, arguments)]
