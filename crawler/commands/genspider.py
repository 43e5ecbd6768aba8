"""`scrapy genspider`: Scrapy's own, with the project's templates beside Scrapy's (TEMPLATES_DIR would replace them)."""

from __future__ import annotations

import argparse
import contextlib
import io
import re
from pathlib import Path
from typing import Any, Final

from scrapy.commands.genspider import Command as GenspiderCommand
from scrapy.commands.genspider import sanitize_module_name
from scrapy.exceptions import UsageError

from crawler import urls
from crawler.addon import uses_addon
from crawler.commands.base import OneLine
from crawler.commands.options import host_name
from crawler.commands.terminal import answering
from crawler.errors import ConfigError, ShoalError, shown

NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
TEMPLATES: Final = Path(__file__).parent.parent / "templates" / "spiders"


class Command(OneLine, GenspiderCommand):
    """`-t product` is a spider of the fleet; `-l` lists all templates."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """As Scrapy's, but exit status 2 for an invalid name or domain."""
        if not uses_addon(self.settings):
            super().run(args, opts)
            return
        with answering(args):
            if len(args) == 2:
                _check(args[0], args[1], self.settings.get("BOT_NAME"))
                args = [args[0], _url(args[1])]
            elif not (opts.list or opts.dump):
                words = "name the spider and its domain: scrapy genspider -t product myshop shop.example"
                raise UsageError(words)
            try:
                super().run(args, opts)
            except OSError as error:
                words = f"{error.filename} cannot be written: {error.strerror}"
                raise UsageError(words) from None

    def _spider_exists(self, name: str) -> bool:
        """Raises UsageError where Scrapy prints and goes on, as if it had made one."""
        if not uses_addon(self.settings):
            return super()._spider_exists(name)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exists = super()._spider_exists(name)
        if exists:
            words = f"{' '.join(said.getvalue().split())}: choose another name, or add --force to overwrite it"
            raise UsageError(words)
        return False

    def _generate_template_variables(self, module: str, name: str, url: str, template_name: str) -> dict[str, Any]:
        """Scrapy's domain has the port, which neither a table of `domains.toml` nor `allowed_domains` takes."""
        variables = super()._generate_template_variables(module, name, url, template_name)
        return variables | ({"domain": urls.group(url)} if uses_addon(self.settings) else {})

    def _find_template(self, template: str) -> Path | None:
        if not uses_addon(self.settings):
            return super()._find_template(template)
        own = TEMPLATES / f"{template}.tmpl"
        with contextlib.redirect_stdout(io.StringIO()):
            found = own if own.exists() else super()._find_template(template)
        if found is None:
            words = f"there is no template {shown(template)}: `scrapy genspider --list` shows them"
            raise UsageError(words)
        return found

    def _list_templates(self) -> None:
        super()._list_templates()
        if not uses_addon(self.settings):
            return
        for template in sorted(TEMPLATES.glob("*.tmpl")):
            print(f"  {template.stem}")


def _url(domain: str) -> str:
    """Scrapy takes `shop.example:8443` for a URL with the scheme `shop.example`."""
    return domain if "://" in domain else f"https://{domain}"


def _check(name: str, domain: str, project: str | None) -> None:
    if sanitize_module_name(name) == project:
        raise ConfigError("name", name, "one that differs from the project's (BOT_NAME)")
    if not NAME.fullmatch(name):
        raise ConfigError("name", name, "letters, digits, '_', '-' and '.', starting with a letter")
    try:
        host_name(urls.group(urls.check(_url(domain))))
    except (argparse.ArgumentTypeError, ShoalError):
        raise ConfigError("domain", domain, "a domain such as shop.example, or a URL of it") from None
