"""Empty app shells: pages whose content a browser's JavaScript would still have to put there. Pure."""

from __future__ import annotations

import re
from typing import Final

from crawler.policy.page_text import visible_text

MAX_BYTES: Final = 32_768
MAX_TAGS: Final = 120
MAX_TEXT: Final = 200  # characters: a logo, "Loading", a word to those without JavaScript
MAX_RENDERED_TEXT: Final = 40  # of a page whose scripts have run: it has no more to come
LEAST_DATA: Final = 15  # characters of JSON that a script holds when it carries anything of the page

# Where frameworks mount an app; what a page says to those who run no scripts; content that scripts carry.
_MOUNT = re.compile(
    rb"""<(?:div|main|section)\b[^>]{0,300}\bid\s*=\s*["']?(?:root|app|__next|__nuxt|___gatsby|main-app|react-root|svelte|"""
    rb"""q-app|ember\d*|mount|app-root|application)\b|<app-root\b|\bng-app\b|\bdata-server-rendered="false\"""",
    re.IGNORECASE,
)
_PLEA = re.compile(
    r"(?:enable|requires?|need|activate|turn on|aktivieren|activer|activar)\b[^.]{0,60}\bjavascript", re.IGNORECASE
)
_CONTENT: Final = (b"itemprop=", b'property="product:', b'property="og:price')
# A script with the page's data: JSON by its type, or what frameworks hand to their own code.
_SCRIPT = re.compile(rb"<script\b([^>]{0,500})>([^<]*)", re.IGNORECASE)
_JSON_TYPE = re.compile(rb"""type\s*=\s*["']?application/(?:ld\+)?json""", re.IGNORECASE)
_STATE = re.compile(
    rb"__[A-Z][A-Z_]{3,40}__\s*=|__remixContext\s*=|__staticRouterHydrationData\s*=|__next_f\.push|"
    rb"""\b(?:window|self|globalThis)\.[A-Za-z_]{0,40}(?:state|data|store)[A-Za-z_]{0,40}\s*=\s*(?:JSON\.parse\(\s*["']|[{\[])""",
    re.IGNORECASE,
)
_EMPTY = re.compile(rb'"pageProps"\s*:\s*(?:\{\s*\}|null)')


def is_shell(body: bytes, *, rendered: bool = False) -> bool:
    """Whether *body* is the shell of an app, with next to no text and nothing for machines to read.

    *rendered*: its scripts have run. Known weakness: a shell that ships its menu and footer has text, and passes for
    a page; `required` elements in the domain's rules find it out.
    """
    if len(body) > MAX_BYTES or body.count(b"<") > MAX_TAGS or b"<script" not in body.lower():
        return False
    if any(content in body for content in _CONTENT) or carries_data(body):
        return False
    text = visible_text(body.decode("utf-8", "replace"))
    if len(text) > (MAX_RENDERED_TEXT if rendered else MAX_TEXT):
        return False
    return _MOUNT.search(body) is not None or _PLEA.search(text) is not None


def carries_data(body: bytes) -> bool:
    """Whether a script holds what the page will show. Known weakness: settings of the app alone look the same."""
    for attributes, content in _SCRIPT.findall(body):
        is_data = _JSON_TYPE.search(attributes) or _STATE.search(content)
        if is_data and len(content.strip()) >= LEAST_DATA and not _EMPTY.search(content):
            return True
    return False
