"""`python -m benchmarks.static_shop`: product pages of 20 KB, rendered beforehand, served as fast as possible."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from demo import catalogue, render
from demo.catalogue import JSON_LD, Product, Store
from demo.server import serve
from demo.site import Fault, Reply

HOSTS = 8
PER_LISTING = 50
REVIEWS = 23  # so many make a page of 20 KB


class StaticSite:
    """One host: a listing of all its products from the front page on, and the products."""

    def __init__(self, store: Store, products: list[Product]) -> None:
        self._pages = {urlsplit(item.url).path: _reply(render.product_page(item, (), REVIEWS)) for item in products}
        cards = [render.card(item, urlsplit(item.url).path) for item in products]
        last = -(-len(cards) // PER_LISTING)
        for number in range(1, last + 1):
            shown = cards[(number - 1) * PER_LISTING : number * PER_LISTING]
            following = _listing(number + 1) if number < last else ""
            page = render.listing_page(store, store.name, shown, "", following)
            self._pages[_listing(number)] = _reply(page)
        self._robots = Reply(200, b"User-agent: *\nDisallow:\n", content_type="text/plain")

    def reply(self, path: str, query: Mapping[str, str]) -> Reply:
        """The page as it was rendered."""
        if path == "/robots.txt":
            return self._robots
        return self._pages.get(path) or Reply(404, content_type="text/plain")

    def fault(self, path: str) -> Fault | None:
        """Nothing goes wrong here."""
        return None


def hosts() -> list[str]:
    """127.0.0.2 and those after it."""
    return [f"127.0.0.{2 + number}" for number in range(HOSTS)]


def sites(pages: int, port: int) -> dict[str, StaticSite]:
    """*pages* products over all hosts, all of them as JSON-LD."""
    return {host: _site(host, pages // HOSTS, port) for host in hosts()}


def _site(host: str, pages: int, port: int) -> StaticSite:
    store = Store(host, "Static Shop", "en-IE", "EUR", "€{:,.2f}", 2, (JSON_LD,))
    return StaticSite(store, catalogue.stock(store, seed=1, port=port, size=pages))


def _listing(number: int) -> str:
    return "/" if number == 1 else f"/c/all/{number}"


def _reply(page: bytes) -> Reply:
    return Reply(200, page)


def main() -> int:
    """Serve until SIGTERM; writes the start URLs once it listens."""
    parser = argparse.ArgumentParser(prog="benchmarks.static_shop")
    parser.add_argument("--pages", type=int, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--urls", type=Path, required=True)
    options = parser.parse_args()
    text = "".join(f"http://{host}:{options.port}/\n" for host in hosts())

    def ready() -> None:
        options.urls.write_text(text)

    serve(sites(options.pages, options.port), {}, options.port, ready)
    return 0


if __name__ == "__main__":
    sys.exit(main())
