"""`python benchmarks/wide_names.py crawl ...`: Scrapy where names below `.test` are this machine.

As a file, not a module, so that nothing of the project is on the path of a worker that is not ours.
"""

from __future__ import annotations

import socket
import sys
from typing import Any, Final

ADDRESS: Final = "127.0.0.1"
_getaddrinfo, _gethostbyname = socket.getaddrinfo, socket.gethostbyname


def _here(host: Any) -> Any:
    return ADDRESS if isinstance(host, str) and host.endswith(".test") else host


def main() -> None:
    """Scrapy, until it ends."""
    socket.getaddrinfo = lambda host, *rest, **named: _getaddrinfo(_here(host), *rest, **named)
    socket.gethostbyname = lambda host: _gethostbyname(_here(host))
    from scrapy.cmdline import execute

    execute()


if __name__ == "__main__":
    sys.path.pop(0)
    main()
