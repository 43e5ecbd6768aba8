"""The ARCHIVE_* settings: each range is kept, and errors name the setting and no credentials."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.errors import ConfigError
from crawler.storage.archive.config import ArchiveConfig, Keep
from crawler.storage.archive.store import Store
from tests.shipped import shipped


def test_the_shipped_settings_archive_failures_within_a_bound() -> None:
    config = ArchiveConfig.from_settings(shipped())
    assert config.keep is Keep.FAILED
    assert config.failed_bytes == 2**30
    assert config.most_bytes == 256 * 2**20
    assert config.directory.is_absolute()
    assert (config.keep_days, config.keep_bytes) == (0, 100 * 2**30)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("ARCHIVE_PAGES", ["some", None, True]),
        ("ARCHIVE_URI", ["ftp://a/b", "bucket", "s3://", "http://a/b", "s3://key:s3cret@bucket"]),
        ("ARCHIVE_OPTIONS", ["endpoint", 5, '{"secret_access_key": "s3cret"']),
    ],
)
def test_ranges(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(ConfigError, match=name) as error:
            ArchiveConfig.from_settings(shipped(**{name: value}))
        assert "s3cret" not in str(error.value)


def test_a_command_line_gives_options_as_json() -> None:
    config = ArchiveConfig.from_settings(shipped(ARCHIVE_OPTIONS='{"region": "eu-central-1"}'))
    assert config.options == {"region": "eu-central-1"}


def test_an_option_that_the_store_does_not_know_is_refused() -> None:
    config = ArchiveConfig.from_settings(shipped(ARCHIVE_URI="s3://bucket/pages", ARCHIVE_OPTIONS={"colour": "red"}))
    with pytest.raises(ConfigError, match="ARCHIVE_URI"):
        Store(config)
