"""What a URL of a Cluster's nodes says."""

from __future__ import annotations

import pytest
from scrapy.settings import BaseSettings

from crawler.errors import ConfigError
from crawler.frontier.server import connection
from crawler.frontier.server.cluster import split


@pytest.mark.parametrize(
    ("url", "first", "others"),
    [
        ("redis://a", "redis://a", []),
        ("redis://a:7000/0", "redis://a:7000/0", []),
        ("redis://a:7000,b:7001,c/0", "redis://a:7000/0", [("b", 7001), ("c", 6379)]),
        ("rediss://me:p,w@a,b?ssl_ca_certs=/x,y", "rediss://me:p,w@a?ssl_ca_certs=/x,y", [("b", 6379)]),
        ("redis://:p%40w@[::1]:5,[::2]:6", "redis://:p%40w@[::1]:5", [("::2", 6)]),
        ("unix:///run/a,b.sock", "unix:///run/a,b.sock", []),
    ],
)
def test_a_url_names_one_node_or_more(url: str, first: str, others: list[tuple[str, int]]) -> None:
    assert split(url) == (first, others)


@pytest.mark.parametrize("hosts", ["a:1,", ",a:1", "a:1,b:x", "a:1,b:70000", "a,:1", "a:b:c,d"])
async def test_what_names_no_node_is_refused_without_its_password(hosts: str) -> None:
    settings = BaseSettings({"REDIS_URL": f"redis://me:s3cret@{hosts}/0", "REDIS_CLUSTER": True})
    with pytest.raises(ConfigError, match="host\\[:port\\],host") as refused:
        connection.connect(settings)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("hosts", ["a:1,b:2", ",a:1", "a,:1"])
async def test_several_hosts_are_only_a_clusters(hosts: str) -> None:
    with pytest.raises(ConfigError, match=r"REDIS_CLUSTER.*several hosts") as refused:
        connection.connect(BaseSettings({"REDIS_URL": f"redis://me:s3cret@{hosts}/0"}))
    assert "s3cret" not in str(refused.value)
