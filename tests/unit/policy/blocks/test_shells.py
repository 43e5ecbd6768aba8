"""Empty app shells, and pages that are not."""

from __future__ import annotations

import pytest

from crawler.policy.blocks.shells import is_shell
from tests.effort import cpu_seconds
from tests.unit.policy.blocks.block_pages import PROSE, page

NEXT = '<script id="__NEXT_DATA__" type="application/json">%s</script>'
BUNDLE = '<script type="module" src="/assets/index-1a2b.js"></script>'


def app(inside: str) -> str:
    """An app that is not there yet, with *inside* beside its script."""
    return page("Shop", '<div id="root"></div>' + inside + BUNDLE)


@pytest.mark.parametrize(
    "html",
    [
        page("Shop", '<div id="root"></div>' + BUNDLE),
        page("Shop", "<div id=app>Loading…</div>" + BUNDLE),
        page("Shop", "<app-root></app-root>" + BUNDLE),
        page("Shop", '<div id="__next"><img src="/logo.svg"></div>' + BUNDLE),
        page("", "<noscript>You need to enable JavaScript to run this app.</noscript>" + BUNDLE),
        page("Shop", '<main class="x" id="root"></main><footer>© Shop</footer>' + BUNDLE),
        page("Shop", '<div id="__next"></div>' + NEXT % '{"props":{"pageProps":{}},"page":"/p","query":{}}'),
        app("<script>window.dataLayer = window.dataLayer || [];</script>"),
        app('<script type="application/ld+json"> </script>'),
        page("Shop", '<div id="root"></div><SCRIPT src="/app.js"></SCRIPT>'),
        app('<script>var shop = {"api":"/api/v1","priceFormat":"%d"};</script>'),
        app('<script type="application/json"><!-- --></script>'),
    ],
)
def test_shells(html: str) -> None:
    assert is_shell(html.encode())


@pytest.mark.parametrize(
    "html",
    [
        "",
        page("Shop", '<div id="root"></div>'),  # nothing would ever fill it
        page("Shop", f'<div id="root">{PROSE}</div>' + BUNDLE),  # rendered by the server
        page(
            "Shop", '<div id="root"></div>' + BUNDLE, '<script type="application/ld+json">{"@type":"Product"}</script>'
        ),
        page("Shop", '<div id="__next"></div>' + NEXT % '{"props":{"pageProps":{"product":{"name":"Lamp"}}}}'),
        page(
            "Shop", '<div id="__nuxt"></div><script>window.__NUXT__={data:[{name:"Lamp",price:12}]}</script>' + BUNDLE
        ),
        app('<script>window.__INITIAL_STATE__ = {"sku":"K1"};</script>'),
        app('<script>self.__next_f.push([1,"5:[null,1]"])</script>'),
        page("Shop", '<div id="app"></div><script>window.appState = JSON.parse("{\\"sku\\": 1}")</script>' + BUNDLE),
        app('<script>window["__APOLLO_STATE__"] = {"sku":"K1"};</script>'),
        app('<script>const item = {"name":"Lamp","price":12};</script>'),
        app('<script>shop.item={name:"Lamp",price:12}</script>'),
        app('<script type="application/vnd.shop+json">{"sku":"K1234"}</script>'),
        app('<script type="application/json"><!--{"sku":"K1234"}--></script>'),
        app('<script type="application/json">["<p>","A lamp"]</script>'),
        page("Thanks", "<p>Thank you.</p>" + BUNDLE),
        page("Gallery", '<div id="app">' + "<img>" * 200 + "</div>" + BUNDLE),
        page("Big", '<div id="root"></div>' + BUNDLE + " " * 40_000),
    ],
)
def test_pages(html: str) -> None:
    assert not is_shell(html.encode())


@pytest.mark.parametrize(
    ("inside", "shell"),
    [("", True), ("Loading…", True), ("<p>Sold out. We are sorry: this lamp is not made any more.", False)],
)
def test_a_page_whose_scripts_have_run_is_a_shell_when_nothing_came(inside: str, shell: bool) -> None:
    html = page("Shop", f'<div id="root">{inside}</div>' + BUNDLE).encode()
    assert is_shell(html, rendered=True) is shell


def test_it_takes_linear_time() -> None:
    def look() -> None:
        for bomb in (b"window." + b"data" * 8_000, b"<script" * 4_600, b"<script>" + b"window.a=" * 3_000):
            is_shell(b'<div id="root"></div><script>' + bomb)

    assert cpu_seconds(look, 0.5) < 0.5
