"""What `scrapy dead retry` brings back starts over."""

from __future__ import annotations

from collections.abc import Callable

from tests.crawling import Fleet, ended
from tests.sites import Page, Site


def failing(*statuses: int) -> Callable[[], Page]:
    """A page that answers with each of these once, then as it should."""
    left = list(statuses)
    return lambda: Page(status=left.pop(0)) if left else Page()


async def test_a_letter_that_is_retried_has_all_its_tries_again(fleet: Fleet) -> None:
    """After an outage a site often fails once more: the letter was back at once."""
    with Site({"/": failing(503, 503, 503)}) as site:
        fleet.runner.run("push", "walk", site.url("/"), *fleet.options())
        await ended(fleet.start(RETRY_TIMES=1, AUTOTHROTTLE_MAX_DELAY=0.1))
        assert (await fleet.left()).reasons == ["http_503"]
        fleet.runner.run("dead", "retry", "walk", *fleet.options())
        log = (await ended(fleet.start(RETRY_TIMES=1, AUTOTHROTTLE_MAX_DELAY=0.1)))[1]
        assert (await fleet.left()).reasons == [], log
    assert site.requested == ["/"] * 4
