"""The key of a spider's start URLs, from its own name for it or the setting's."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawler.errors import ConfigError
from crawler.spiders.base import key_of_start_urls


@pytest.mark.parametrize(
    ("own", "setting", "key"),
    [
        (None, None, "shop:start_urls"),
        (None, "fed:%(name)s", "fed:shop"),
        ("mine", "fed:%(name)s", "mine"),
        ("100%%:%(name)s", None, "100%:shop"),
    ],
)
def test_a_spiders_own_key_counts_before_the_settings(own: str | None, setting: str | None, key: str) -> None:
    assert key_of_start_urls("shop", own, Settings({"REDIS_START_URLS_KEY": setting})) == key


@pytest.mark.parametrize("key", ["100%", "a%b", "%(spider)s", "%s %s", " "])
def test_a_key_that_cannot_be_filled_in_is_named_with_where_it_stands(key: str) -> None:
    with pytest.raises(ConfigError, match=r"^redis_key of spider shop = "):
        key_of_start_urls("shop", key, Settings())
    with pytest.raises(ConfigError, match=r"^REDIS_START_URLS_KEY = "):
        key_of_start_urls("shop", None, Settings({"REDIS_START_URLS_KEY": key}))
