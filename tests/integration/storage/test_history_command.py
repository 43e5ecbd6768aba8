"""`scrapy history`: the price plot of a product."""

from __future__ import annotations

import argparse
import asyncio
import io
from collections.abc import Awaitable, Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from bson import Decimal128
from hypothesis import given
from hypothesis import strategies as st
from scrapy.exceptions import UsageError

from crawler.commands.history import BARS, GAP, Command, plot, prices, show
from crawler.commands.terminal import PlainConsole
from crawler.storage.connection import Database
from crawler.storage.writer import Writer
from tests.integration.storage.observing import URL, at, seen
from tests.shipped import shipped

History = Callable[..., Awaitable[str]]


@pytest.fixture
def history(database: Database, mongodb_uri: str, capsys: pytest.CaptureFixture[str]) -> History:
    async def run(*args: str) -> str:
        command = Command()
        command.settings = shipped(MONGODB_URI=mongodb_uri, MONGODB_DATABASE=database.name)
        await asyncio.to_thread(command.run, list(args), argparse.Namespace())
        return capsys.readouterr().out

    return run


async def test_price_line_and_changes(writer: Writer, history: History) -> None:
    for hour, price in enumerate(("10.00", "12.50", None, "8.00")):
        await writer.store(seen(hour * 3600, price, title="Knife [forged]"))
    shown = await history("products", f"{URL}?utm_source=x")

    assert "Knife [forged]" in shown
    assert "8.00 to 12.50 EUR" in shown
    assert BARS[-1] in shown
    assert GAP in shown
    assert [line.split() for line in shown.splitlines() if "price" in line] == [
        ["2", "2026-03-01", "01:00:00", "price", "10.00", "12.50"],
        ["3", "2026-03-01", "02:00:00", "price", "12.50", "-"],
        ["4", "2026-03-01", "03:00:00", "price", "-", "8.00"],
    ]


@pytest.mark.parametrize(
    ("seen_prices", "told"), [(["196.50"], "196.50 EUR"), (["0.5", "12345678.50"], "0.5 to 12345678.50 EUR")]
)
def test_the_plot_and_its_prices_share_a_line_of_a_terminal(seen_prices: list[str], told: str) -> None:
    first, *others = map(Decimal, seen_prices)
    records = [{"at": at(60), "changes": {"price": {"old": first, "new": one}}} for one in others]
    item = {"_id": URL, "title": "t", "currency": "EUR", "price": first}
    item |= {"first_seen_at": at(0), "last_seen_at": at(3_600)}
    console = PlainConsole(width=80, file=io.StringIO())
    show(console, item, records)
    assert isinstance(console.file, io.StringIO)
    [line] = [line for line in console.file.getvalue().splitlines() if any(bar in line for bar in BARS)]
    assert line.endswith(told)
    assert len(line) <= 80


async def test_product_without_changes(writer: Writer, history: History) -> None:
    await writer.store(seen(0, "10.00", key="k"))
    assert "no changes" in await history("products", f"{URL}#k")


@pytest.mark.parametrize(
    "odd", ["text", None, 7, {"a": 1}, [1, None], {"price": {"old": "x", "new": Decimal128("NaN")}}]
)
async def test_what_another_program_has_stored_is_passed_over(
    database: Database, writer: Writer, history: History, odd: object
) -> None:
    await writer.store(seen(0, "10.00"))
    await writer.store(seen(60, "12.50"))
    record = await database.product_changes.find_one({})
    assert record is not None
    rows = [record | {"_id": f"{field}", field: odd} for field in ("version", "at", "changes")]
    await database.product_changes.insert_many([*rows, {"_id": "bare", "item": record["item"]}])
    assert "12.50" in await history("products", URL)
    for field in ("first_seen_at", "last_seen_at", "price", "currency", "title"):
        await database.products.update_one({}, {"$set": {field: odd}})
        assert "12.50" in await history("products", URL)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["pages", URL], "pages has no history: CHANGE_HISTORY only keeps that of products"),
        (["products"], "name a collection and a URL"),
    ],
)
async def test_wrong_usage_is_said_in_one_line(history: History, args: list[str], words: str) -> None:
    with pytest.raises(UsageError) as error:
        await history(*args)
    assert str(error.value).startswith(words)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("url", ["http://shop.example/none", "http://["])
async def test_a_url_that_is_not_stored_ends_with_one(
    database: Database, mongodb_uri: str, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    command = Command()
    command.settings = shipped(MONGODB_URI=mongodb_uri, MONGODB_DATABASE=database.name)
    await asyncio.to_thread(command.run, ["products", url], argparse.Namespace())
    said = capsys.readouterr()
    assert (command.exitcode, said.out) == (1, "")
    assert said.err == f"products has no {url}: `scrapy export products` shows what is stored\n"


def test_prices_begin_with_the_first_one() -> None:
    item: dict[str, Any] = {"first_seen_at": at(0), "price": Decimal(3)}
    records = [
        {"at": at(5), "changes": {"title": {"old": "a", "new": "b"}}},
        {"at": at(9), "changes": {"price": {"old": Decimal(2), "new": Decimal(3)}}},
    ]
    assert prices(item, records) == [(at(0), Decimal(2)), (at(9), Decimal(3))]
    assert prices(item, []) == [(at(0), Decimal(3))]


def test_prices_of_a_product_that_came_back_are_those_since_then() -> None:
    item: dict[str, Any] = {"first_seen_at": at(20), "price": Decimal(30)}
    before = {"at": at(9), "changes": {"price": {"old": Decimal(2), "new": Decimal(3)}}}
    again = {"at": at(20), "changes": {"price": {"old": Decimal(29), "new": Decimal(30)}}}
    assert prices(item, [before]) == [(at(20), Decimal(30))]
    assert prices(item, [before, again]) == [(at(20), Decimal(29)), (at(20), Decimal(30))]


@given(st.lists(st.none() | st.decimals(0, 10**6, places=2), min_size=1, max_size=9), st.integers(1, 90))
def test_plot_is_as_wide_as_asked_and_spans_all_prices(values: list[Decimal | None], width: int) -> None:
    line: list[tuple[datetime, Decimal | None]] = [(at(n), value) for n, value in enumerate(values)]
    row = plot(line, at(len(values) - 1), width)
    assert len(row) == width
    assert set(row) <= {*BARS, GAP}


@given(st.lists(st.decimals(0, 10**6, places=2), min_size=2, max_size=9, unique=True))
def test_a_plot_with_room_for_all_prices_shows_the_lowest_and_the_highest(values: list[Decimal]) -> None:
    row = plot([(at(n), value) for n, value in enumerate(values)], at(len(values) - 1), 90)
    assert {BARS[0], BARS[-1]} <= set(row)
