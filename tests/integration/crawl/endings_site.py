"""Two hosts with a page for each way in which a request can end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.sites import Page, Site


@contextmanager
def serve() -> Iterator[dict[str, str]]:
    """Gives the arguments of the spiders of endings.py."""
    hold = threading.Event()
    with Site({}) as site, Site({"/page": Page()}, host="127.0.0.2") as other:
        site.pages |= {path: Page() for path in ("/page", "/page?again", "/child", "/beside", "/private")}
        site.pages |= {
            "/robots.txt": Page("User-agent: *\nDisallow: /private\n", headers={"Content-Type": "text/plain"}),
            "/unavailable": Page(status=503),
            "/moved": redirect("/page"),
            "/elsewhere": redirect(other.url("/page")),
            "/there-and-back": first(redirect(other.url("/back")), then=Page()),
            "/to-mail": redirect("mailto:shop@a.example"),
            "/to-far": redirect("/page?" + "a" * 5_000),
            "/to-nothing": redirect("http://[::1/page"),
            "/cookie": cookie_wall(site),
            "/never": Page(hold=hold),
        }
        other.pages["/back"] = redirect(site.url("/there-and-back"))
        try:
            yield {"site": site.url("")}
        finally:
            hold.set()


def redirect(location: str, cookie: str = "") -> Page:
    """302."""
    return Page(status=302, headers={"Location": location} | ({"Set-Cookie": cookie} if cookie else {}))


def first(page: Page, *, then: Page) -> Callable[[], Page]:
    """*page* once, *then* ever after."""
    pages = iter([page])
    return lambda: next(pages, then)


def cookie_wall(site: Site) -> Callable[[], Page]:
    """Sends whoever has no cookie back here with one."""
    wall = redirect("/cookie", cookie="seen=1")
    return lambda: Page() if "seen=1" in site.last("/cookie").headers.get("Cookie", "") else wall
