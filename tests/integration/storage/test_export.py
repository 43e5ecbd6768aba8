"""`scrapy export`: in a thread of this process, and as the process that people run."""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from scrapy.exceptions import UsageError

from crawler.commands.export import Command
from crawler.commands.options import parse_since
from crawler.errors import ShoalError
from crawler.storage.connection import Database
from crawler.storage.items.origin import Origin
from crawler.storage.reading.rows import columns
from crawler.storage.writer import Writer
from tests.integration.storage.observing import START, URL, at, seen
from tests.servers import ScrapyRunner
from tests.shipped import shipped

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
Export = Callable[..., Awaitable[tuple[str, str]]]


@pytest.fixture
async def shop(writer: Writer) -> None:
    """Three products; the price of one changes a day later."""
    for n in range(3):
        await writer.store(seen(n, f"{n}.50", url=f"{URL}/{n}", title="Messer, groß"))
    await writer.store(seen(86_400, "9.90", url=f"{URL}/1", title="Messer, groß"))


@pytest.fixture
def export(database: Database, mongodb_uri: str, capsys: pytest.CaptureFixture[str]) -> Export:
    """Runs the command; its standard output and standard error."""

    async def run(*args: str, **changes: object) -> tuple[str, str]:
        command = Command()
        command.settings = shipped(MONGODB_URI=mongodb_uri, MONGODB_DATABASE=database.name, **changes)
        parser = argparse.ArgumentParser()
        command.add_options(parser)
        options, rest = parser.parse_known_args(args)
        await asyncio.to_thread(command.run, rest, options)
        captured = capsys.readouterr()
        return captured.out, captured.err

    return run


@pytest.mark.usefixtures("shop")
async def test_json_lines_of_a_process(scrapy_with_servers: ScrapyRunner) -> None:
    done = scrapy_with_servers.run("export", "products")
    assert done.returncode == 0
    documents = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["_id"] for each in documents] == [f"{URL}/{n}" for n in range(3)]
    assert [each["price"] for each in documents] == ["0.50", "9.90", "2.50"]
    assert documents[0]["title"] == "Messer, groß"
    assert documents[0]["fetched_at"] == "2026-03-01T00:00:00+00:00"
    assert "pending_changes" not in documents[1]
    assert done.stderr.strip() == "3 documents exported from products"


async def test_csv_of_items_of_no_class_has_a_column_for_each_field(export: Export, writer: Writer) -> None:
    for number, item in enumerate([{"text": "a", "tags": ["x", "y"]}, {"text": "b"}]):
        await writer.store(item, Origin(f"{URL}/{number}", at(number), {"spider": "quotes"}))
    out, _ = await export("items", "--format", "csv")
    rows = list(csv.DictReader(out.splitlines()))
    assert list(rows[0])[:3] == ["_id", "item.tags", "item.text"]
    assert sorted((row["item.text"], row["item.tags"], row["url"]) for row in rows) == [
        ("a", '["x", "y"]', f"{URL}/0"),
        ("b", "", f"{URL}/1"),
    ]
    assert "item" not in rows[0]


async def test_items_of_one_spider_have_its_columns_alone(export: Export, writer: Writer) -> None:
    for spider, item in (("quotes", {"text": "a"}), ("shop", {"price": 5}), ("shop", {"price": 6})):
        await writer.store(item, Origin(URL, at(0), {"spider": spider}))
    out, err = await export("items", "--format", "csv", "--spider", "shop")
    rows = list(csv.DictReader(out.splitlines()))
    assert sorted(row["item.price"] for row in rows) == ["5", "6"]
    assert "item.text" not in rows[0]
    assert err.strip() == "2 documents of spider shop exported from items"


async def test_csv_of_items_that_are_no_maps(export: Export, database: Database) -> None:
    items = ["text", None, 5, [{"a": 1}], {"title": "T"}]
    await database["items"].insert_many([{"_id": n, "item": item} for n, item in enumerate(items)])
    await database["items"].insert_one({"_id": 9})
    out, _ = await export("items", "--format", "csv")
    assert out.splitlines() == ["_id,item.title", "0,", "1,", "2,", "3,", "4,T", "9,"]


@pytest.mark.usefixtures("shop")
async def test_csv_to_a_file(export: Export, tmp_path: Path) -> None:
    target = tmp_path / "products.csv"
    target.write_text("an earlier export")
    out, _ = await export("products", "--format", "csv", "--output", str(target))
    assert out == ""
    with target.open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    assert header == columns("products")
    assert [row[header.index("price")] for row in rows] == ["0.50", "9.90", "2.50"]
    assert not target.with_name(".products.csv.part").exists()


@pytest.mark.usefixtures("shop")
async def test_a_link_leads_to_the_new_file(export: Export, tmp_path: Path) -> None:
    """As `/dev/stdout` does, which would be no link any more."""
    (target := tmp_path / "of-today").write_text("an earlier export")
    (link := tmp_path / "latest").symlink_to(target)
    await export("products", "--output", str(link))
    assert link.is_symlink()
    assert len(target.read_text(encoding="utf-8").splitlines()) == 3


@pytest.mark.usefixtures("shop")
async def test_since_selects_what_changed(export: Export) -> None:
    out, _ = await export("products", "--since", "2026-03-01T20:00")
    assert [json.loads(line)["_id"] for line in out.splitlines()] == [f"{URL}/1"]
    out, _ = await export("product_changes", "--since", "2026-03-01")
    (record,) = map(json.loads, out.splitlines())
    assert record["changes"] == {"price": {"old": "1.50", "new": "9.90"}}


@pytest.mark.parametrize("name", ["archive", "attempts", "rejected_items", "validators"])
async def test_since_selects_records_by_their_time(export: Export, database: Database, name: str) -> None:
    await database[name].insert_many([{"_id": n, "at": NOW + timedelta(hours=n)} for n in range(3)])
    out, _ = await export(name, "--since", "2026-03-10T13:00")
    assert [json.loads(line)["_id"] for line in out.splitlines()] == [1, 2]


async def test_since_is_refused_where_documents_say_no_time(export: Export, database: Database) -> None:
    await database.run_items.insert_one({"run": "20260310-1"})
    with pytest.raises(UsageError) as error:
        await export("run_items", "--since", "1h")
    assert str(error.value) == "--since: documents of run_items have no last_changed_at to go by"


async def test_a_spider_is_refused_where_documents_name_none(export: Export, database: Database) -> None:
    await database.run_items.insert_one({"run": "20260310-1"})
    with pytest.raises(UsageError) as error:
        await export("run_items", "--spider", "products")
    assert str(error.value) == "--spider: documents of run_items have no source.spider to go by"


async def test_since_finds_nothing_new(export: Export, database: Database) -> None:
    await database.offers.insert_one({"last_changed_at": NOW})
    out, err = await export("offers", "--since", "2026-03-11")
    assert (out, err.split()[0]) == ("", "0")


async def test_other_collections_have_all_their_columns(export: Export, database: Database) -> None:
    await database.offers.insert_many([{"_id": 1, "b": 1}, {"_id": 2, "a": 2, "pending_changes": []}])
    out, _ = await export("offers", "--format", "csv")
    assert out.splitlines() == ["_id,a,b", "1,,1", "2,2,"]


async def test_formulas_are_defused_unless_asked_for_raw(export: Export, database: Database) -> None:
    await database.offers.insert_one({"_id": 1, "a": "=1+1"})
    assert (await export("offers", "--format", "csv"))[0].splitlines()[1] == "1,'=1+1"
    assert (await export("offers", "--format", "csv", "--raw"))[0].splitlines()[1] == "1,=1+1"


async def test_empty_collection_is_said_and_no_error(export: Export) -> None:
    out, err = await export("products", "--format", "csv")
    assert out.strip().split(",") == columns("products")
    assert err.strip() == "0 documents exported from products"


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nothing"], "there is no collection 'nothing', there are: duplicates, items, pages, product_changes"),
        (["products", "--output", "/no/such/directory/x"], "cannot write /no/such/directory/x: No such file"),
        (["products", "--output", "/tmp"], "cannot write /tmp: Is a directory"),
        (["products", "--output", "/dev/full"], "cannot write /dev/full: No space left on device"),
        (["products", "--since", "yesterday"], "--since = 'yesterday' is invalid: expected a time"),
        (["products", "--format", "xml"], "--format = 'xml' is invalid: expected jsonl or csv"),
        (["products", "--format", "markdown", "--output", "x"], "--format markdown is for pages"),
        (["pages", "--format", "markdown"], "--format markdown is for pages: scrapy export pages --format"),
        (["pages", "--format", "markdown", "--output", "/dev/null"], "cannot write /dev/null: File exists"),
        (["products", "--spider", "prodcts"], "there is no spider 'prodcts' (did you mean 'products'?)"),
        (["products", "--raw"], "--raw is for --format csv"),
        (["products", "pages"], "name one collection"),
        ([], "name one collection"),
    ],
)
async def test_what_cannot_be_done_is_said_in_one_line(export: Export, args: list[str], words: str) -> None:
    with pytest.raises(UsageError) as error:
        await export(*args)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_unreachable_mongodb_ends_with_one_line_and_status_2(scrapy_run: ScrapyRunner) -> None:
    uri = "mongodb://reader:s3cret@127.0.0.1:1/"
    done = scrapy_run.run("export", "products", "-s", "STORAGE_CONNECT_SECONDS=0.3", env={"MONGODB_URI": uri})
    assert done.returncode == 2
    assert "MongoDB at 127.0.0.1:1 does not serve us" in done.stderr.splitlines()[-1]
    assert "s3cret" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("shop")
async def test_reader_that_has_enough_ends_it_quietly(scrapy_with_servers: ScrapyRunner) -> None:
    process = scrapy_with_servers.start("export", "products")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
    assert process.wait(timeout=30) == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01", START),
        (" 2026-03-01T00:00:10 ", at(10)),
        ("2026-03-01T02:00:10+02:00", at(10)),
        ("90m", NOW - timedelta(minutes=90)),
        ("12h", NOW - timedelta(hours=12)),
        ("7d", NOW - timedelta(days=7)),
        ("2w", NOW - timedelta(weeks=2)),
    ],
)
def test_times_that_since_takes(text: str, expected: datetime) -> None:
    assert parse_since(text, NOW) == expected


@pytest.mark.parametrize("text", ["", "now", "-1h", "1y", "2026-13-01", "999999w", "1e3"])
def test_times_that_since_refuses(text: str) -> None:
    with pytest.raises(ShoalError, match=r"--since = .* is invalid: expected a time"):
        parse_since(text, NOW)


async def test_pages_as_markdown_files(export: Export, database: Database, tmp_path: Path) -> None:
    old = {"_id": f"{URL}/old", "url": f"{URL}/old", "title": "Old", "text": "Plain text."}  # of an older release
    new = {"_id": f"{URL}/ä?q=..", "url": f"{URL}/ä?q=..", "title": 'A "title": x\n---', "markdown": "# A", "text": "A"}
    state = {**dict.fromkeys(("fetched_at", "first_seen_at", "last_seen_at", "last_changed_at"), NOW), "version": 1}
    await database["pages"].insert_many([{**each, **state, "content_hash": "x"} for each in (old, new)])
    folder = tmp_path / "new" / "folder"
    for _ in range(2):
        out, err = await export("pages", "--format", "markdown", "--output", str(folder))
    assert (out, "2 documents" in err) == ("", True)
    first, second = sorted(folder.iterdir(), key=lambda path: "-old-" in path.name)
    assert second.read_text().endswith("---\n\nPlain text.\n")
    _, front, body = first.read_text().split("---\n", 2)
    stated = yaml.safe_load(front)
    assert (stated["url"], stated["title"]) == (new["url"], 'A "title": x ---')
    assert body == "\n# A\n"
