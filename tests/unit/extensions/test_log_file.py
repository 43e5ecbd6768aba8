"""A log file that cannot be written."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.settings import Settings
from scrapy.utils import log as scrapy_log

from crawler.extensions.logs import LogAddon

FULL = Path("/dev/full")


@pytest.fixture
def handler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[logging.FileHandler]:
    """Scrapy's, for a new file, and on the root logger."""
    monkeypatch.setattr(scrapy_log, "_get_formatter", scrapy_log._get_formatter)
    settings = Settings({"LOG_FILE": str(tmp_path / "crawl.log")})
    LogAddon.update_pre_crawler_settings(settings)
    made = scrapy_log._get_handler(settings)
    assert isinstance(made, logging.FileHandler)
    logging.root.addHandler(made)
    yield made
    logging.root.removeHandler(made)
    made.close()


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
def test_a_full_disk_is_told_once_and_so_is_what_is_missing(
    handler: logging.FileHandler, capsys: pytest.CaptureFixture[str]
) -> None:
    logger = logging.getLogger("tests.log_file")
    logger.warning("before")
    written, full = handler.stream, FULL.open("w", encoding="utf-8")
    handler.stream = full
    for number in range(3):
        logger.warning("lost %d", number)
    assert capsys.readouterr().err == (
        f"{handler.baseFilename} cannot be written (No space left on device): log lines are lost until it can\n"
    )
    handler.stream = written
    with contextlib.suppress(OSError):  # what it holds back
        full.close()
    logger.warning("after")
    logger.warning("later")
    lines = Path(handler.baseFilename).read_text().splitlines()
    assert [line.partition(": ")[2] for line in lines] == [
        "before",
        "after",
        "The log file took nothing for a while: 3 lines before the last one are missing",
        "later",
    ]


def test_a_line_that_cannot_be_made_is_told_as_ever(
    handler: logging.FileHandler, capsys: pytest.CaptureFixture[str]
) -> None:
    handler.handle(logging.LogRecord("tests", logging.WARNING, __file__, 1, "%d lines", ("no number",), None))
    assert "--- Logging error ---" in capsys.readouterr().err


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
def test_a_full_one_can_be_closed(handler: logging.FileHandler) -> None:
    """Scrapy does so to open the log anew while it starts: else no worker would start, or be started again."""
    assert handler.stream is not None
    handler.stream.close()
    handler.stream = full = FULL.open("w", encoding="utf-8")
    logging.getLogger("tests.log_file").warning("lost")
    handler.close()
    assert full.closed
