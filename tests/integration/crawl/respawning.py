"""A worker that is started again whenever it dies: `python -m tests.integration.crawl.respawning` and arguments of
`scrapy`. Forks, so that a death costs no new start of Python; prints the exit statuses of all lives.
"""

from __future__ import annotations

import os
import sys

from scrapy import cmdline

from crawler.commands import crawl  # noqa: F401  # loads what every life needs
from tests.integration.crawl import spiders  # noqa: F401


def main() -> None:
    statuses: list[int] = []
    while not statuses or (statuses[-1] != 0 and len(statuses) < 10):
        child = os.fork()
        if child == 0:
            cmdline.execute(["scrapy", *sys.argv[1:]])
        _, status = os.waitpid(child, 0)
        statuses.append(os.waitstatus_to_exitcode(status))
    print(*statuses)


if __name__ == "__main__":
    main()
