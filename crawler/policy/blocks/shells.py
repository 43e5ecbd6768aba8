"""Empty app shells: pages whose content JavaScript would still have to add. Pure."""

from __future__ import annotations

import re
from typing import Final

from crawler.policy.blocks.page_text import has_more, in_utf8, visible_text

MAX_BYTES: Final = 32_768
MAX_TAGS: Final = 120
MAX_TEXT: Final = 200  # characters: a logo, "Loading", a note for visitors without JavaScript
MAX_RENDERED_TEXT: Final = 40  # for a page whose scripts have run: nothing more will come
LEAST_DATA: Final = 15  # characters of JSON in a script that carries page data

# Where frameworks mount an app; notes for visitors without scripts; content that scripts carry.
_MOUNT = re.compile(
    rb"""<(?:div|main|section)\b[^>]{0,300}\bid\s*=\s*["']?(?:root|app|__next|__nuxt|___gatsby|main-app|react-root|svelte|"""
    rb"""q-app|ember\d*|mount|app-root|application)\b|<app-root\b|\bng-app\b|\bdata-server-rendered="false\"""",
    re.IGNORECASE,
)
_PLEA = re.compile(
    r"(?:enable|requires?|need|activate|turn on|aktivieren|activer|activar)\b[^.]{0,60}\bjavascript", re.IGNORECASE
)
_CONTENT: Final = (b"itemprop=", b'property="product:', b'property="og:price')
# A script with the page's data: JSON by its type, or state that frameworks embed.
_SCRIPT = re.compile(rb"<script\b([^>]{0,500})>\s*(?:<!--)?([^<]*(?:<(?!/script)[^<]*){0,4})", re.IGNORECASE)
_JSON_TYPE = re.compile(rb"""type\s*=\s*["']?(?:application|text)/(?:[\w.-]{1,40}\+)?json""", re.IGNORECASE)
_STATE = re.compile(
    rb"""__[A-Z][A-Z_]{3,40}__(?:["']\])?\s*=|__remixContext\s*=|__staticRouterHydrationData\s*=|__next_f\.push|"""
    rb"""\b(?:window|self|globalThis)\.[A-Za-z_]{0,40}(?:state|data|store)[A-Za-z_]{0,40}\s*=\s*(?:JSON\.parse\(\s*["']|[{\[])""",
    re.IGNORECASE,
)
# Any variable whose value says a price.
_ASSIGNED = re.compile(rb"""[\w$\]]\s*=\s*(?:JSON\.parse\(\s*["'`]|[{\[])""")
_PRICE = re.compile(rb"""\bprice\\?["']?\s*:""", re.IGNORECASE)
_EMPTY = re.compile(rb'"pageProps"\s*:\s*(?:\{\s*\}|null)')


def is_shell(body: bytes, *, rendered: bool = False) -> bool:
    """Whether *body* is an app shell, with next to no text and no machine-readable data.

    *rendered*: its scripts have run. Known weakness: a shell with menu and footer has text and passes as a page;
    `required` elements in the domain's rules catch it.
    """
    body = in_utf8(body)
    if len(body) > MAX_BYTES or has_more(body, b"<", MAX_TAGS) or b"<script" not in body.lower():
        return False
    if any(content in body for content in _CONTENT) or carries_data(body):
        return False
    text = visible_text(body.decode("utf-8", "replace"))
    if len(text) > (MAX_RENDERED_TEXT if rendered else MAX_TEXT):
        return False
    return is_mounted(body) or _PLEA.search(text) is not None


def is_mounted(body: bytes) -> bool:
    """Whether *body* has a place where a framework mounts an app."""
    return _MOUNT.search(body) is not None


def carries_data(body: bytes) -> bool:
    """Whether a script contains what the page will show. Known weakness: mere app settings look the same."""
    for attributes, content in _SCRIPT.findall(body):
        is_data = _JSON_TYPE.search(attributes) or _STATE.search(content)
        is_data = is_data or (_PRICE.search(content) and _ASSIGNED.search(content))
        if is_data and len(content.strip()) >= LEAST_DATA and not _EMPTY.search(content):
            return True
    return False
