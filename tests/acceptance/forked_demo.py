"""The demo, whose processes are forks of the one that the tests' `scrapy` processes are forked from."""

from __future__ import annotations

import sys
from unittest.mock import patch

from demo import run
from demo.__main__ import main
from tests.chaos.forked import ForkedFamily

if __name__ == "__main__":
    with patch.object(run, "Family", ForkedFamily):
        sys.exit(main())
