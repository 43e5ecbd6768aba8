"""What the options of `scrapy push --sitemap` ask for."""

from __future__ import annotations

from pathlib import Path
from threading import Event, current_thread, main_thread

import pytest
from scrapy.utils.request import RequestFingerprinter

from crawler.errors import ShoalError
from crawler.producers import sources
from crawler.producers.rejects import Rejects
from crawler.producers.sitemap_push import SitemapPusher, wanted_sitemaps
from crawler.routing.encoder import Encoder
from crawler.routing.tier_routing import TierRouting
from crawler.spiders.products import ProductsSpider
from tests.shipped import shipped

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


async def test_what_names_the_sites_is_read_off_the_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An object store may not answer for half a minute, and the leader has other work."""
    sites, threads = tmp_path / "sites.txt", set()
    sites.write_text("a.example\nhttps://b.example/x\nftp://c.example/\n")
    opened = sources.opened

    def noting(source: str, stop: Event) -> sources.Raw:
        threads.add(current_thread())
        return opened(source, stop)

    monkeypatch.setattr(sources, "opened", noting)
    encoder = Encoder(ProductsSpider, shipped(), RequestFingerprinter(), TierRouting())
    rejects = Rejects("", str, lambda line: None)
    wanted = wanted_sitemaps([URL, "robots"], [str(sites)], [], [], changed_only=False)
    roots = await SitemapPusher(encoder, wanted, rejects).roots()
    assert list(roots) == [URL, "https://a.example/robots.txt", "https://b.example/robots.txt"]
    assert rejects.count == 1
    assert threads
    assert main_thread() not in threads


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
