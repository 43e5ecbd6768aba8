"""Workers of one test, as for the tests of crawls."""

from tests.integration.crawl.conftest import fleet

__all__ = ["fleet"]
