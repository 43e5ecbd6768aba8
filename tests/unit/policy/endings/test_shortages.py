"""What is this machine's own fault, and no host's."""

from __future__ import annotations

import errno

import pytest
from scrapy.exceptions import DownloadFailedError

from crawler.handlers.connecting import in_scrapys_words
from crawler.policy.endings.shortages import shortage


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.EMFILE, ""), "ulimit -n"),
        (OSError(errno.ENFILE, ""), "fs.file-max"),
        (OSError(errno.ENOBUFS, ""), "no memory"),
        (MemoryError(), "no memory"),
        (RuntimeError("can't start new thread"), "ulimit -u"),
    ],
)
def test_it_is_named_whatever_wraps_it(error: BaseException, words: str) -> None:
    assert words in shortage(error)
    outer = ValueError()
    outer.__cause__ = error
    assert words in shortage(outer)


def test_a_dial_that_fails_for_want_of_files_is_one() -> None:
    with pytest.raises(DownloadFailedError) as caught, in_scrapys_words("shop.example"):
        raise OSError(errno.EMFILE, "Too many open files")
    assert shortage(caught.value)


@pytest.mark.parametrize(
    "error", [None, OSError(), OSError(errno.ECONNREFUSED, ""), OSError(errno.EADDRNOTAVAIL, ""), RuntimeError("no")]
)
def test_other_failures_are_none(error: BaseException | None) -> None:
    assert shortage(error) == ""


def test_a_circle_of_causes_ends() -> None:
    error = ValueError()
    error.__cause__ = error
    assert shortage(error) == ""
