"""Storage settings: the shipped ones work, each range is kept, and errors name the setting."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.statscollectors import MemoryStatsCollector

from crawler.errors import ConfigError
from crawler.pipelines.clean import CleanPipeline
from crawler.pipelines.dedupe import DedupePipeline
from crawler.pipelines.validate import ValidatePipeline
from crawler.storage import connection
from crawler.storage.config import StorageConfig
from settings.base import PROJECT_DIR
from tests.shipped import shipped


def crawler(**changes: Any) -> Crawler:
    made = Crawler(Spider, shipped(**changes))
    made.stats = MemoryStatsCollector(made)
    return made


def test_shipped_settings_are_the_defaults_of_the_dataclass() -> None:
    assert StorageConfig.from_settings(shipped()) == StorageConfig(spool_dir=str(PROJECT_DIR / ".scrapy" / "spool"))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("LINK_DUPLICATES_OF", [["items"], ["products", "Pages"], "product", 5, [["x"]]]),
        (
            "CHANGE_HISTORY",
            [
                None,
                "products",
                {"products": ""},
                {"a": "$b"},
                {1: "a"},
                {"a": "a"},
                {"a": "b", "b": "c"},
                {"a": "pages"},
            ],
        ),
    ],
)
def test_ranges_of_the_writer(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(ConfigError, match=name):
            StorageConfig.from_settings(shipped(**{name: value}))


@pytest.mark.parametrize("value", [[], "", None])
def test_linking_can_be_off(value: Any) -> None:
    assert StorageConfig.from_settings(shipped(LINK_DUPLICATES_OF=value)).link_duplicates == frozenset()


def test_linking_takes_names_from_the_command_line() -> None:
    config = StorageConfig.from_settings(shipped(LINK_DUPLICATES_OF="pages,products"))
    assert config.link_duplicates == {"pages", "products"}


@pytest.mark.parametrize("value", [["no_such_issue"], ["missing_title", "Missing_Title"]])
def test_fatal_issues_are_those_that_there_are(value: list[str]) -> None:
    with pytest.raises(ConfigError, match="ITEM_FATAL_ISSUES"):
        ValidatePipeline.from_crawler(crawler(ITEM_FATAL_ISSUES=value))


@pytest.mark.parametrize("pipeline", [CleanPipeline, ValidatePipeline, DedupePipeline])
def test_pipelines_are_built_with_the_shipped_settings(pipeline: Any) -> None:
    assert pipeline.from_crawler(crawler()) is not None


def test_deduplication_can_be_off() -> None:
    with pytest.raises(NotConfigured):
        DedupePipeline.from_crawler(crawler(ITEM_DEDUPE_SIZE=0))


@pytest.mark.parametrize(
    "uri",
    [
        "mongo://reader:s3cret@db.example",
        "mongodb://reader:s3cret@db.example:port",
        "mongodb://reader:s3cret@db.example:99999",
        "mongodb://reader:s3cr@et@db.example",
        "mongodb://reader:s3cret@",
        "mongodb://reader:s3cr/et@db.example/",
        "mongodb://reader:12/s3cret@db.example/",
        "mongodb://reader:12?s3cret@db.example/",
        "mongodb://reader:s3cr?et@db.example:27017/shop?w=1",
        "mongodb://reader:x@s3cr/et@db.example",
        "mongodb://reader:s3cr/et@",
        "reader:s3cr/et@db.example:27017",
        "reader:s3cr://et@db.example:27017",
    ],
)
def test_an_unreadable_uri_is_named_without_its_password(uri: str) -> None:
    with pytest.raises(ConfigError, match="MONGODB_URI") as error:
        connection.connect(shipped(MONGODB_URI=uri))
    assert "s3cr" not in str(error.value)
    assert "reader" not in str(error.value)


def test_a_password_that_has_to_be_percent_encoded_is_called_so() -> None:
    with pytest.raises(
        ConfigError, match=r"mongodb://\*\*\*@db\.example/.* percent-encoded user .* \(/ is %2F, \? is %3F"
    ):
        connection.connect(shipped(MONGODB_URI="mongodb://reader:s3cr/et@db.example/?w=1"))


@pytest.mark.parametrize(
    ("password", "reason"),
    [
        ("escaped", "Port contains non-digit characters. Hint: username and password must be *** according to"),
        ("%65scaped", "Port contains non-digit characters. Hint: username and password must be *** according to"),
        ("e", "Port contains non-digit characters. Hint: username and password must be escaped according to"),
    ],
)
def test_where_a_reason_has_the_password_in_it_the_rest_is_shown(password: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(reason)):
        connection.connect(shipped(MONGODB_URI=f"mongodb://reader:{password}@db.example:port"))


@pytest.mark.parametrize("option", ["tlsCAFile", "tlsCertificateKeyFile"])
def test_a_file_that_an_option_names_and_is_not_there_is_named(option: str, tmp_path: Path) -> None:
    for path in (tmp_path / "none.pem", tmp_path):
        with pytest.raises(ConfigError, match=f"MONGODB_URI.*: {path}") as error:
            connection.connect(shipped(MONGODB_URI=f"mongodb://u:s3cret@db.example/?tls=true&{option}={path}"))
        assert "s3cret" not in str(error.value)


@pytest.mark.parametrize("name", ["", "a b", "a.b", "a$b", None, ["x"], 5])
async def test_a_database_name_that_mongodb_refuses(name: Any) -> None:
    client = connection.connect(shipped(MONGODB_URI="mongodb://127.0.0.1:1"))
    with pytest.raises(ConfigError, match="MONGODB_DATABASE"):
        connection.database(client, {"MONGODB_DATABASE": name})
    await client.close()


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("mongodb://127.0.0.1:27017/", "127.0.0.1:27017"),
        ("mongodb://u:p%40@a:1,b:2/db?replicaSet=r", "a:1,b:2"),
        ("mongodb+srv://u:p@cluster.example/?retryWrites=true", "cluster.example"),
        ("mongodb://[::1]:27017", "[::1]:27017"),
        ("localhost:27017", "localhost:27017"),
        ("mongodb://a:1,u:s3cret,[::1]:2,v:7even", "a:1,u:...,[::1]:2,v:..."),
        ("", ""),
    ],
)
def test_address_has_hosts_and_ports_only(uri: str, expected: str) -> None:
    assert connection.address(uri) == expected
