"""`python -m demo.shop`: the demo shops, or a folder of saved pages, in their own process."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo import catalogue, pages, site
from demo.arguments import whole
from demo.server import Serves, serve

PORT = 8000
TOUR = """\
{what} on port {port}; the start URLs are in {file}. Ctrl-C stops it.
{opt_in}
Now, in two other terminals:

    .venv/bin/scrapy crawl products
    .venv/bin/scrapy push products {file}
"""
# Printed only if the settings have the guard: otherwise loopback needs no permission.
OPT_IN = """
Workers refuse loopback addresses unless told otherwise; in each terminal:

    export SHOAL_ALLOWED_NETWORKS=127.0.0.0/8
"""


@dataclass(frozen=True, slots=True)
class Served:
    """What one process serves, and the start URLs of a crawl."""

    what: str
    sites: Mapping[str, Serves]
    truth: Mapping[str, Any]
    start_urls: list[str]


def shops(*, port: int, day: int = 1, seed: int = 7, size: int = 104) -> Served:
    """The five demo shops on one day."""
    goods = catalogue.build(seed=seed, day=day, port=port, size=size)
    sites = {store.host: site.Site(goods, store) for store in goods.stores}
    what = f"{len(goods.products)} products in {len(sites)} shops"
    return Served(what, sites, goods.truth(), site.start_urls(goods))


def saved(folder: Path, *, port: int) -> Served:
    """A folder of saved pages; raises PagesError if it is not one."""
    found = pages.load(folder)
    sites = {page.host: pages.PageSite(page) for page in found}
    return Served(f"{len(sites)} saved pages", sites, {}, [page.url(port) for page in found])


def main(arguments: list[str] | None = None) -> int:
    """Serve until Ctrl-C; exit status 2 if the folder or an address is unusable."""
    options = _parser().parse_args(arguments)
    try:
        served = _served(options)
        serve(served.sites, served.truth, options.port, lambda: _announce(served, options))
    except pages.PagesError as error:
        return _fail(str(error))
    except OSError as error:
        why = os.strerror(error.errno).lower() if error.errno else error  # asyncio's words name the address again
        return _fail(f"port {options.port} cannot be used ({why}): try another, make shop ARGS='--port {PORT + 1}'")
    return 0


def _served(options: argparse.Namespace) -> Served:
    if options.pages:
        return saved(options.pages, port=options.port)
    return shops(port=options.port, day=options.day, seed=options.seed, size=options.size)


def _announce(served: Served, options: argparse.Namespace) -> None:
    options.urls.parent.mkdir(parents=True, exist_ok=True)
    options.urls.write_text("".join(f"{url}\n" for url in served.start_urls))
    if not options.quiet:
        print(TOUR.format(what=served.what, port=options.port, file=options.urls, opt_in=_opt_in()), flush=True)


def _opt_in() -> str:
    from settings import base

    return OPT_IN if hasattr(base, "GUARD_ALLOWED_NETWORKS") else ""


def _fail(reason: str) -> int:
    sys.stderr.write(f"shop: {reason}\n")
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="demo.shop", description="Demo shops on 127.0.0.2 to 127.0.0.6")
    parser.add_argument("--port", type=whole(1, 65_535), default=PORT, help="for all hosts (default %(default)s)")
    parser.add_argument("--day", type=whole(1), default=1, help="state of the shops: prices change from day to day")
    parser.add_argument("--seed", type=int, default=7, help="another seed, other products")
    parser.add_argument(
        "--size", type=whole(catalogue.SMALLEST), default=104, help="products in each of the five shops, 20 or more"
    )
    parser.add_argument("--pages", type=Path, help="serve this folder of saved pages instead")
    parser.add_argument("--urls", type=Path, default=Path("urls.txt"), help="file for the start URLs")
    parser.add_argument("--quiet", action="store_true", help="print nothing")
    return parser


if __name__ == "__main__":
    sys.exit(main())
