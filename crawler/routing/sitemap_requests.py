"""Requests for sitemaps: what they carry, and the callback that every spider has for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha1
from typing import Any, Final, Self

from scrapy import Request
from scrapy.http import Response

from crawler.errors import MessageError
from crawler.frontier.messages import Message
from crawler.meta import ALLOW_BLOCKED, SITEMAP
from crawler.policy.rules.patterns import BadPatternError, Pattern
from crawler.routing.encoder import Encoder

MAX_BYTES: Final = 52_428_800  # unpacked, as sitemaps.org has it
DEPTH: Final = 4  # robots.txt, and indexes of indexes


async def shoal_sitemap(response: Response) -> None:
    """Stands for the callback where no worker is: `SitemapsMiddleware` gives each spider one of this name."""
    raise NotImplementedError(f"{response} is read by workers of the fleet alone")


@dataclass(frozen=True, slots=True)
class SitemapTerms:
    """How a sitemap is read. *include*, *exclude*: patterns of which one, or none, is found in the URLs of its pages.
    *changed_only*: sitemaps that it names are left out where their lastmod has not changed. *lastmod*: its own, as the
    one that names it says. *depth*: how many lead to it. *url*: by which its run knows it, whatever redirects it."""

    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()
    changed_only: bool = True
    is_robots: bool = False
    lastmod: str = ""
    depth: int = 0
    url: str = ""

    def stored(self) -> dict[str, Any]:
        """For `request.meta`."""
        return {
            "include": [pattern.text for pattern in self.include],
            "exclude": [pattern.text for pattern in self.exclude],
            "changed_only": self.changed_only,
            "is_robots": self.is_robots,
            "lastmod": self.lastmod,
            "depth": self.depth,
            "url": self.url,
        }

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        """Raises MessageError for what this release cannot have stored."""
        try:
            include, exclude = (tuple(Pattern(text) for text in stored[name]) for name in ("include", "exclude"))
            return cls(**{**stored, "include": include, "exclude": exclude})
        except (BadPatternError, TypeError, KeyError) as error:
            raise MessageError(f"meta['shoal_sitemap'] = {stored!r:.200} cannot be read ({error})") from None

    def takes(self, url: str) -> bool:
        """Whether a page of that *url* is wanted."""
        if self.include and not any(pattern.search(url) for pattern in self.include):
            return False
        return not any(pattern.search(url) for pattern in self.exclude)


def sitemap_message(encoder: Encoder, url: str, terms: SitemapTerms, generation: str, priority: int) -> Message:
    """The request for a sitemap, known in its run alone: each run reads it once. Raises MessageError, CodecError."""
    meta = {
        SITEMAP: replace(terms, url=url).stored(),
        ALLOW_BLOCKED: True,  # no other tier would give it; what is none fails where it is read
        "download_maxsize": MAX_BYTES,
        "download_warnsize": 0,
    }
    request = Request(url, callback=shoal_sitemap, meta=meta, priority=priority, headers={"Accept-Encoding": "gzip"})
    told = f"sitemap {generation} {url}".encode("utf-8", "surrogatepass")
    place = encoder.place(request)._replace(digest=sha1(told, usedforsecurity=False).digest())
    return encoder.message(request, generation=generation, dedupe=True, place=place)
