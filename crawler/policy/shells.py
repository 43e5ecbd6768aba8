"""Empty app shells: pages whose content a browser's JavaScript would still have to put there. Pure."""

from __future__ import annotations

import re
from typing import Final

from crawler.policy.blocks import visible_text

MAX_BYTES: Final = 32_768
MAX_TAGS: Final = 120
MAX_TEXT: Final = 200  # characters: a logo, "Loading", a word to those without JavaScript

# Where frameworks mount an app; what a page says to those who run no scripts; content that scripts carry.
_MOUNT = re.compile(
    rb"""<(?:div|main|section)\b[^>]{0,300}\bid\s*=\s*["']?(?:root|app|__next|__nuxt|___gatsby|main-app|react-root|svelte|"""
    rb"""q-app|ember\d*|mount|app-root|application)\b|<app-root\b|\bng-app\b|\bdata-server-rendered="false\"""",
    re.IGNORECASE,
)
_PLEA = re.compile(
    r"(?:enable|requires?|need|activate|turn on|aktivieren|activer|activar)\b[^.]{0,60}\bjavascript", re.IGNORECASE
)
_CONTENT: Final = (b"application/ld+json", b"itemprop=", b'property="product:', b'property="og:price', b"__NEXT_DATA__")


def is_shell(body: bytes) -> bool:
    """Whether *body* is the shell of an app, with next to no text and nothing for machines to read.

    Known weakness: a shell that ships its menu and footer has text, and passes for a page; `required` elements in
    the domain's rules find it out.
    """
    if len(body) > MAX_BYTES or body.count(b"<") > MAX_TAGS or b"<script" not in body:
        return False
    if any(content in body for content in _CONTENT):
        return False
    text = visible_text(body.decode("utf-8", "replace"))
    return len(text) <= MAX_TEXT and (_MOUNT.search(body) is not None or _PLEA.search(text) is not None)
