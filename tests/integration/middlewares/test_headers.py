"""What a domain's header profile looks like at the server."""

from __future__ import annotations

from pathlib import Path

from crawler.policy.headers import PROFILES
from tests.crawling import Fleet, ended
from tests.sites import Page, Site


async def test_the_server_sees_a_browsers_headers_in_its_order_and_robots_txt_sees_us(
    fleet: Fleet, tmp_path: Path
) -> None:
    (tmp_path / "domains.toml").write_text('["localhost"]\nheaders = "firefox"\n')
    robots = Page(
        "User-agent: shoal\nDisallow: /private\nUser-agent: *\nDisallow:\n", headers={"Content-Type": "text/plain"}
    )
    pages = {"/robots.txt": robots, "/1": Page(), "/2": Page(), "/private": Page()}
    with Site(pages) as site:
        urls = [site.url(path).replace("127.0.0.1", "localhost") for path in ("/1", "/private")]
        await fleet.push(*urls, site.url("/2"))
        worker = fleet.start(DOMAINS_FILE=str(tmp_path / "domains.toml"), ROBOTSTXT_OBEY=True)
        status, _ = await ended(worker)
    assert status == 0
    asked = {(request.path, request.headers["Host"].partition(":")[0]): request.headers for request in site.received}
    assert ("/private", "localhost") not in asked, "the profile does not change who obeys"
    page = asked["/1", "localhost"]
    expected = PROFILES["firefox"].dress(urls[0], {}, {"gzip", "deflate"})
    assert {name: page.get(name) for name in expected} == expected
    assert [name for name in page if name in expected] == list(expected)
    for other in (asked["/robots.txt", "localhost"], asked["/2", "127.0.0.1"]):
        assert other["User-Agent"].startswith("shoal/")
