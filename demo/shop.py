"""`python -m demo.shop`: the demo shops in a process of their own."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from demo import catalogue, site
from demo.server import serve

PORT = 8000
TOUR = """\
{count} products in {stores} shops on port {port}; their start URLs are in {file}. Ctrl-C closes them.

Now, in two other terminals:

    .venv/bin/scrapy crawl products
    .venv/bin/scrapy push products {file}
{opt_in}"""
# Only where the settings have the guard: before that, loopback needs no permission.
OPT_IN = """
Crawlers refuse loopback addresses unless told otherwise. Give both of them:

    export SHOAL_ALLOWED_NETWORKS=127.0.0.0/8
"""


def main(arguments: list[str] | None = None) -> int:
    """Serve the shops until Ctrl-C; exit status 2 when an address is taken."""
    options = _parser().parse_args(arguments)
    goods = catalogue.build(seed=options.seed, day=options.day, port=options.port, size=options.size)
    sites = {store.host: site.Site(goods, store) for store in goods.stores}
    urls = site.start_urls(goods)

    def ready() -> None:
        options.urls.parent.mkdir(parents=True, exist_ok=True)
        options.urls.write_text("".join(f"{url}\n" for url in urls))
        if not options.quiet:
            print(_tour(goods, options.urls), flush=True)

    try:
        serve(sites, goods.truth(), options.port, ready)
    except OSError as error:
        sys.stderr.write(f"shop: port {options.port} cannot be used ({error.strerror}); try --port\n")
        return 2
    return 0


def _tour(goods: catalogue.Catalogue, file: Path) -> str:
    from settings import base

    opt_in = OPT_IN if hasattr(base, "GUARD_ALLOWED_NETWORKS") else ""
    count, stores = len(goods.products), len(goods.stores)
    return TOUR.format(count=count, stores=stores, port=goods.port, file=file, opt_in=opt_in)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="demo.shop", description="Demo shops on 127.0.0.2 to 127.0.0.6")
    parser.add_argument("--port", type=int, default=PORT, help="one port for all hosts (default %(default)s)")
    parser.add_argument(
        "--day", type=int, default=1, help="state of the shops: prices change from day to day"
    )
    parser.add_argument("--seed", type=int, default=7, help="another seed, other products")
    parser.add_argument(
        "--size", type=int, default=104, help="products in each of the five shops, 20 or more"
    )
    parser.add_argument("--urls", type=Path, default=Path("urls.txt"), help="file for the start URLs")
    parser.add_argument("--quiet", action="store_true", help="print nothing")
    return parser


if __name__ == "__main__":
    sys.exit(main())
