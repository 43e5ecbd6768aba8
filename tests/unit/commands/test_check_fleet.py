"""What `scrapy check-fleet` prints of the bundled spiders, and how it ends."""

from __future__ import annotations

from importlib import import_module

import pytest
from scrapy import Spider
from scrapy.cmdline import ScrapyArgumentParser
from scrapy.exceptions import UsageError

from crawler.spiders.products import ProductsSpider
from tests.shipped import shipped


def checked(*words: str, **given: object) -> int:
    command = import_module("crawler.commands.check-fleet").Command()
    command.settings = shipped(REDIS_URL="redis://127.0.0.1:1", **given)  # nobody connects, and none is started
    parser = ScrapyArgumentParser(usage="scrapy check-fleet")
    command.add_options(parser)
    command.run(["products"], parser.parse_args([*words]))
    exitcode: int = command.exitcode
    return exitcode


def test_nothing_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert checked() == 0
    assert capsys.readouterr().out == "products can work in a fleet, as far as can be seen\n"


def test_an_argument_that_the_spider_does_not_take_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert checked("-a", "start_url=https://shop.example/") == 1
    [told, count] = capsys.readouterr().out.splitlines()
    assert told.startswith("products has no argument -a start_url: ")
    assert count == "1 found"


def test_an_argument_without_a_value_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        checked("-a", "category")
    assert ended.value.code == 2
    assert capsys.readouterr().err == "scrapy check-fleet: -a = 'category' is invalid: expected NAME=VALUE\n"


def test_a_spider_that_cannot_be_made_is_found_beside_the_rest(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ProductsSpider, "__init__", _of_a_category)
    assert checked("-a", "start_url=https://shop.example/") == 1
    [made, argument, count] = capsys.readouterr().out.splitlines()
    assert made.startswith("making products: raises TypeError: ")
    assert made.endswith("missing 1 required positional argument: 'category' (what it needs comes with -a)")
    assert argument.startswith("products has no argument -a start_url: ")
    assert count == "2 found"


def _of_a_category(self: Spider, category: str, **kwargs: str) -> None:
    """As of a spider that asks for an argument."""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FRONTIER_POLL_SECONDS", "often"),
        ("CLOSESPIDER_ITEMCOUNT", -1),
        ("FEEDS", {"items.jsonl": {"format": "odd"}}),
        ("EXTENSIONS", {"nowhere.Extension": 1}),
        ("TWISTED_REACTOR", "twisted.internet.selectreactor.SelectReactor"),
        ("REFERRER_POLICY", "nowhere"),
    ],
)
def test_what_stops_a_crawl_at_its_start_stops_this(name: str, value: object) -> None:
    with pytest.raises(UsageError, match=rf"^{name}\b.* invalid"):
        checked(**{name: value})
