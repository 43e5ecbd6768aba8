"""`python -m demo`, which is what `make demo` runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from crawler.errors import ShoalError
from demo.arguments import seconds, whole
from demo.catalogue import SMALLEST
from demo.fleet import DemoError
from demo.jobs import Job, Pages, Shops
from demo.pages import PagesError
from demo.run import Demo, Options
from demo.state import FIRST_PORT

PLAIN_WIDTH = 80


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0: everything stored once and correctly; 1: not; 2: the demo could not run; 130: Ctrl-C."""
    given = _parser().parse_args(arguments)
    options = Options(root=given.root, workers=given.workers, kill=given.kill, port=given.port, limit=given.limit)
    try:
        job: Job = Pages(given.pages) if given.pages else Shops(given.size)
        return Demo(options, job, _console()).run()
    except (DemoError, PagesError, ShoalError) as error:
        sys.stderr.write(f"demo: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("demo: stopped; the next run continues this day\n")
        return 130


def _console() -> Console:
    """As wide as the terminal; without one wide enough for the tables."""
    return Console() if sys.stdout.isatty() else Console(width=PLAIN_WIDTH)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="demo", description="Crawl demo shops on loopback and check the result")
    parser.add_argument("--pages", type=Path, help="crawl this folder of saved pages instead of the shops")
    parser.add_argument(
        "--size", type=whole(SMALLEST), default=104, help="products in each of the five shops, 20 or more"
    )
    parser.add_argument("--workers", type=whole(1), default=2, help="how many workers (default %(default)s)")
    parser.add_argument("--no-kill", dest="kill", action="store_false", help="do not kill a worker")
    parser.add_argument("--port", type=whole(1, 65_535), default=FIRST_PORT, help="first port to try on the first run")
    parser.add_argument("--limit", type=seconds(1), default=300, help="give up after this many seconds")
    parser.add_argument("--root", type=Path, default=Path(".demo"), help="where data, logs and state are kept")
    return parser


if __name__ == "__main__":
    sys.exit(main())
