"""Whether a name is the site's own, by its address and what it calls itself."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from crawler.extraction import opengraph
from crawler.extraction.document import Document

SURE: Final = 5  # letters of a name that its site's address has
_SLOGAN: Final = re.compile(r"\s+[-–—|·•:]\s+|:\s+")


def is_site(name: str, document: Document) -> bool:
    """Whether *name* is in the page's host, is one of its labels, or is what the site calls itself (og:site_name),
    with a slogan or without."""
    letters = squeezed(name)
    host = urlsplit(document.url).netloc.lower()
    if len(letters) > 1 and ((len(letters) >= SURE and letters in squeezed(host)) or letters in host.split(".")[:-1]):
        return True
    called = opengraph.metas(document).get("og:site_name", "")
    return bool(letters) and letters in (squeezed(called), squeezed(_SLOGAN.split(called)[0]))


def without_slogan(name: str, document: Document) -> str:
    """*name* up to a dash or colon, if what stands before it is the site's own name: `Acme - tools since 1920`."""
    parts = _SLOGAN.split(name, maxsplit=1)
    return parts[0] if len(parts) > 1 and is_site(parts[0], document) else name


def squeezed(text: str) -> str:
    """Its letters and digits, in lower case."""
    return "".join(filter(str.isalnum, text)).lower()
