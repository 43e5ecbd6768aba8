"""A request's Cookie header in its browser context, which sends cookies of its own store and no others."""

from __future__ import annotations

import logging
from typing import Final
from urllib.parse import urljoin

from playwright._impl._api_structures import SetCookieParam
from playwright.async_api import BrowserContext, Error

REFUSED: Final = "Invalid cookie"  # Chromium's word for all of them if it does not take one

logger = logging.getLogger(__name__)


async def put(context: BrowserContext, header: bytes, url: str) -> None:
    """Have *context* send the cookies of *header* to the host of *url*, on all of its paths. One that Chromium does not
    take (too long, `__Host-` over plain http) is left out, and named in the log."""
    cookies = parse(header, url)
    await _drop_others(context, {cookie["name"]: cookie["value"] for cookie in cookies}, url)
    if not await _taken(context, cookies):
        refused = [cookie["name"] for cookie in cookies if not await _taken(context, [cookie])]
        logger.warning("Chromium takes no such cookies for %s, which is asked for without: %s", url, ", ".join(refused))


def parse(header: bytes, url: str) -> list[SetCookieParam]:
    """The cookies of *header* for the whole host of *url*: `__Host-` ones cannot be narrower."""
    pairs = [part.strip().partition("=") for part in header.decode("utf-8", "replace").split(";")]
    return [{"name": name, "value": value, "url": urljoin(url, "/")} for name, _, value in pairs if name]


async def _drop_others(context: BrowserContext, values: dict[str, str], url: str) -> None:
    """Those of the same name and another value that would be sent, too, and maybe first: of the domain, of a path."""
    for kept in await context.cookies(url):
        if values.get(kept["name"], kept["value"]) != kept["value"]:
            await context.clear_cookies(name=kept["name"], domain=kept["domain"], path=kept["path"])


async def _taken(context: BrowserContext, cookies: list[SetCookieParam]) -> bool:
    try:
        await context.add_cookies(cookies)
    except Error as error:
        if REFUSED not in error.message:
            raise
        return False
    return True
