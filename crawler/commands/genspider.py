"""`scrapy genspider`: Scrapy's own, with the project's templates beside Scrapy's (TEMPLATES_DIR would replace them)."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Final

from scrapy.commands.genspider import Command as GenspiderCommand
from scrapy.exceptions import UsageError

from crawler import urls
from crawler.addon import uses_addon
from crawler.commands.options import host_name
from crawler.commands.usage import OneLine, answering
from crawler.errors import ConfigError, ShoalError

NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
TEMPLATES: Final = Path(__file__).parent.parent / "templates" / "spiders"


class Command(OneLine, GenspiderCommand):
    """`-t product` is a spider of the fleet; `-l` lists all templates."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """As Scrapy's, but exit status 2 for an invalid name or domain."""
        assert self.settings is not None
        if not uses_addon(self.settings):
            super().run(args, opts)
            return
        with answering(args):
            if len(args) == 2:
                _check(*args)
            elif not (opts.list or opts.dump):
                words = "name the spider and its domain: scrapy genspider -t product myshop shop.example"
                raise UsageError(words, print_help=False)
            super().run(args, opts)

    def _find_template(self, template: str) -> Path | None:
        assert self.settings is not None
        if not uses_addon(self.settings):
            return super()._find_template(template)
        own = TEMPLATES / f"{template}.tmpl"
        if (found := own if own.exists() else super()._find_template(template)) is None:
            raise UsageError(f"there is no template {template!r}", print_help=False)
        return found

    def _list_templates(self) -> None:
        super()._list_templates()
        assert self.settings is not None
        if not uses_addon(self.settings):
            return
        for template in sorted(TEMPLATES.glob("*.tmpl")):
            print(f"  {template.stem}")


def _check(name: str, domain: str) -> None:
    if not NAME.fullmatch(name):
        raise ConfigError("name", name, "letters, digits, '_', '-' and '.', starting with a letter")
    try:
        host_name(urls.group(urls.check(domain if "://" in domain else f"https://{domain}")))
    except (argparse.ArgumentTypeError, ShoalError):
        raise ConfigError("domain", domain, "a domain such as shop.example, or a URL of it") from None
