"""Empty app shells, and pages that are none."""

from __future__ import annotations

import pytest

from crawler.policy.shells import is_shell
from tests.unit.policy.block_pages import PROSE, page

BUNDLE = '<script type="module" src="/assets/index-1a2b.js"></script>'


@pytest.mark.parametrize(
    "html",
    [
        page("Shop", '<div id="root"></div>' + BUNDLE),
        page("Shop", "<div id=app>Loading…</div>" + BUNDLE),
        page("Shop", "<app-root></app-root>" + BUNDLE),
        page("Shop", '<div id="__next"><img src="/logo.svg"></div>' + BUNDLE),
        page("", "<noscript>You need to enable JavaScript to run this app.</noscript>" + BUNDLE),
        page("Shop", '<main class="x" id="root"></main><footer>© Shop</footer>' + BUNDLE),
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
        page("Thanks", "<p>Thank you.</p>" + BUNDLE),
        page("Gallery", '<div id="app">' + "<img>" * 200 + "</div>" + BUNDLE),
        page("Big", '<div id="root"></div>' + BUNDLE + " " * 40_000),
    ],
)
def test_pages(html: str) -> None:
    assert not is_shell(html.encode())
