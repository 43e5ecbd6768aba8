"""What a URL of Sentinels says."""

from __future__ import annotations

import pytest

from crawler.errors import ConfigError
from crawler.frontier.server.sentinel import is_sentinel, parse


@pytest.mark.parametrize(
    ("url", "sentinels", "service", "params"),
    [
        ("redis+sentinel://a/main", [("a", 26379)], "main", {}),
        (
            "redis+sentinel://me:p%2Fw@a:1,b:2,c/main/3",
            [("a", 1), ("b", 2), ("c", 26379)],
            "main",
            {"username": "me", "password": "p/w", "db": 3},
        ),
        ("rediss+sentinel://:pw@[::1]:5,[::2]/m", [("::1", 5), ("::2", 26379)], "m", {"ssl": True, "password": "pw"}),
    ],
)
def test_a_url_names_sentinels_service_and_who_we_are(
    url: str, sentinels: list[tuple[str, int]], service: str, params: dict[str, object]
) -> None:
    found = parse(url)
    assert (list(found.sentinels), found.service, found.params) == (sentinels, service, params)


@pytest.mark.parametrize(
    "url",
    [
        "redis+sentinel://a:1",
        "redis+sentinel://a:1/",
        "redis+sentinel:///main",
        "redis+sentinel://a:x/main",
        "redis+sentinel://a:70000/main",
        "redis+sentinel://a,,b/main",
        "redis+sentinel://a/main/db",
        "redis+sentinel://me:s3cret@/main",
        "redis+sentinel://me:s3cret@a/main?db=1",
    ],
)
def test_what_is_no_such_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ConfigError, match="redis\\+sentinel://\\[") as refused:
        parse(url)
    assert "s3cret" not in str(refused.value)


def test_other_urls_are_none() -> None:
    assert not any(map(is_sentinel, ("redis://a/0", "unix:///s", None, "")))
