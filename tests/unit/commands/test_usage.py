"""What commands tell people, and what they leave to those who mend programs."""

from __future__ import annotations

from argparse import Namespace

import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from crawler.commands import push
from crawler.commands.usage import errors_in_one_line, spider_class
from crawler.errors import ShoalError


def test_an_error_for_people_is_one_line() -> None:
    with pytest.raises(UsageError, match="a line") as error, errors_in_one_line():
        raise ShoalError("a line")
    assert error.value.print_help is False


def test_a_spider_that_is_not_there_is_named() -> None:
    with pytest.raises(ShoalError, match="no spider 'nobody'"):
        spider_class(Settings(), "nobody")


def test_a_fault_of_ours_is_not_taken_for_a_missing_spider(monkeypatch: pytest.MonkeyPatch) -> None:
    async def faulty(*_: object, **__: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(push.Pusher, "push", faulty)
    command = push.Command()
    command.settings = Settings()
    command.settings.setmodule("settings.test", priority="project")
    with pytest.raises(KeyError, match="a bug"):
        command.run(["products", "https://shop.example/"], Namespace(priority=0, recrawl=False))
