"""`scrapy extract`: what would be stored from saved pages, each field with its source."""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import zlib
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any, Final

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler import urls
from crawler.commands.base import FleetCommand
from crawler.commands.terminal import answering
from crawler.errors import MessageError
from crawler.extraction import Document, Feed, extract_page, extract_product, is_feed, missing_required
from crawler.extraction.product.refusal import refusal
from crawler.extraction.product.rules import raw_fields
from crawler.extraction.structured.opengraph import metas
from crawler.items import Item, PageItem, ProductItem
from crawler.policy.blocks import detect, told
from crawler.policy.rules.domain_values import FIELDS
from crawler.policy.rules.domains import DomainRules, Rules, load_rules

KINDS: Final = ("products", "pages")
SHOWN: Final = 3  # products of a feed
MAX_BYTES: Final = 64 * 2**20  # per file, unpacked
_SAVE: Final = "save the page, as by `scrapy fetch --nolog URL > page.html`, name that file, and the URL with --url"

_OWN: Final = {field.name for field in fields(Item)} | {"found_in"}
_TAGS = re.compile(
    r"<(?:!doctype html|html|head|body|meta|title|div|p|span|h1|table|script|a|rss|feed)\b", re.IGNORECASE
)


class BadPageError(Exception):
    """A file that nothing can be extracted from; the message says which and why."""


class Command(FleetCommand, ScrapyCommand):
    """Reads files and prints JSON; touches no queue, no store and no network."""

    def syntax(self) -> str:
        return "products|pages FILE... [--url URL]"

    def short_desc(self) -> str:
        return "Show what would be stored from saved pages, and its source"

    def long_desc(self) -> str:
        return (
            "Extract from saved HTML files (gzip too) by the rules of settings/domains.toml, as that spider would, "
            "and print one JSON object a file. The URL of a page is --url, else what its rel=canonical says, else "
            "its og:url: links, rules and shared currency symbols depend on it."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--url", help="the URL that the page was fetched from; with several files, of each")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 if any file could not be read; the others are extracted all the same."""
        with answering(args):
            if len(args) < 2 or args[0] not in KINDS:
                raise UsageError(f"name {' or '.join(KINDS)}, and the files to read")
            for name in args[1:]:
                if "://" in name:
                    raise UsageError(f"{name} is a URL: {_SAVE}")
            rules = load_rules(self.settings["DOMAINS_FILE"])
            for name in args[1:]:
                try:
                    found = report(args[0], Path(name), opts.url, rules)
                except BadPageError as error:
                    print(f"scrapy extract: {error}", file=sys.stderr)
                    self.exitcode = 2
                else:
                    print(json.dumps(found, ensure_ascii=False, indent=2, default=str))


def report(kind: str, path: Path, url: str | None, rules: Rules) -> dict[str, Any]:
    """What is extracted from the page in *path*, in printed form; raises BadPageError."""
    document = read(path, url)
    head: dict[str, Any] = {"file": str(path), "url": document.url}
    if kind == "pages":
        return head | stated(extract_page(document, document.url))
    own = rules.for_url(document.url)
    if is_feed(document.html, own):
        return head | described(Feed(document, own))
    item = extract_product(document, document.url, own)
    if item is None:
        head |= {"product": None, "reason": _no_product(document, own)}
    else:
        head |= stated(item) | {"not_found": [name for name in FIELDS if getattr(item, name) is None]}
    matched = raw_fields(document, own)
    if idle := [name for name in own.fields if name not in matched]:
        head["rules_without_match"] = idle
    is_known = item is not None or own.is_product(document.url)  # of another page nothing is required
    missing = missing_required(document, item, own) if is_known else []
    return head | ({"required_but_missing": missing} if missing else {})


def _no_product(document: Document, rules: DomainRules) -> str:
    if block := detect(200, {}, document.html.encode("utf-8", "replace"), document.url):
        return f"no product page, but taken for a block page: {told(block.vendor)} (docs/blocks.md)"
    return f"no product page: {refusal(document, rules)}"


def described(feed: Feed) -> dict[str, Any]:
    """The first products of *feed*, their total, and where the feed is broken."""
    items = iter(feed)
    first = [stated(item) for item in islice(items, SHOWN)]
    count = len(first) + sum(1 for _ in items)
    return {"feed_of": count, "first": first} | ({"broken": feed.broken} if feed.broken else {})


def stated(item: ProductItem | PageItem) -> dict[str, Any]:
    """The item's identity and fields; a product's with their source."""
    sources = item.found_in if isinstance(item, ProductItem) else None
    values = {field.name: getattr(item, field.name) for field in fields(item) if field.name not in _OWN}
    found = {name: value for name, value in values.items() if value not in (None, {})}
    return {
        "stored_as": item.url,
        "fields": found if sources is None else {n: {"value": v, "found_in": sources[n]} for n, v in found.items()},
    }


def read(path: Path, url: str | None) -> Document:
    """The page in *path* with its URL; raises BadPageError."""
    document = Document(_unpacked(path), url or "")
    is_answer = document.is_json and "rice" in document.html  # in JSON, with a price
    if not is_answer and not _TAGS.search(document.html[:200_000]):
        raise BadPageError(f"{path} is not HTML: it has no tags")
    document.url = url or document.declared_url or metas(document).get("og:url") or ""
    if not document.url:
        raise BadPageError(f"{path} names no URL of its own: give it with --url")
    try:
        urls.check(document.url)
    except MessageError as error:
        hint = "" if url else "; the page names no other: give it with --url"
        raise BadPageError(f"{path}: {error}{hint}") from None
    return Document(document.html, document.url)


def _unpacked(path: Path) -> bytes:
    try:
        with (gzip.open if _is_gzip(path) else Path.open)(path, "rb") as file:
            data: bytes = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadPageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MAX_BYTES:
        raise BadPageError(f"{path} has more than {MAX_BYTES // 2**20} MB")
    return data


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"
