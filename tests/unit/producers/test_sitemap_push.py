"""What the options of `scrapy push --sitemap` ask for."""

from __future__ import annotations

import pytest

from crawler.errors import ShoalError
from crawler.producers.sitemap_push import wanted_sitemaps

URL = "http://a.example/s.xml"


@pytest.mark.parametrize(
    ("given", "sites", "include", "words"),
    [
        (["robots"], [], [], "--sitemap robots: name the sites, as in `--sitemap robots https://shop.example/`"),
        ([URL], ["urls.txt"], [], "'urls.txt' cannot be pushed beside a sitemap"),
        ([URL], [], ["("], "--include is not a pattern ("),
        ([URL], [], ["x" * 1_001], "--include is not a pattern (it has 1001 characters"),
    ],
)
def test_a_mistake_is_named(given: list[str], sites: list[str], include: list[str], words: str) -> None:
    with pytest.raises(ShoalError) as raised:
        wanted_sitemaps(given, sites, include, [], changed_only=True)
    assert str(raised.value).startswith(words)


def test_the_same_push_is_known_and_another_one_is_not() -> None:
    pushes = [
        wanted_sitemaps([URL, "robots"], ["https://a.example/"], ["/p/"], [], changed_only=True),
        wanted_sitemaps([URL, "robots"], ["https://a.example/"], ["/q/"], [], changed_only=True),
        wanted_sitemaps([URL, "robots"], ["https://b.example/"], ["/p/"], [], changed_only=True),
        wanted_sitemaps([URL, "robots"], ["https://a.example/"], ["/p/"], [], changed_only=False),
        wanted_sitemaps([URL], [], ["/p/"], [], changed_only=True),
    ]
    assert len({push.identity() for push in pushes}) == len(pushes)
    again = wanted_sitemaps([URL, "robots"], ["https://a.example/"], ["/p/"], [], changed_only=True)
    assert again.identity() == pushes[0].identity()
