"""Header profiles: what browsers send for a page, in their order, each consistent in itself.

For sites that serve stripped pages to anything but a browser. Off by default: we say who we are. A profile is a set of
headers, not a disguise: TLS, header case and HTTP/2 frames still tell a crawler from a browser.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from crawler import urls

CHROMIUM: Final = "142"  # major versions of the browsers: raise them when sites complain about old ones
FIREFOX: Final = "144"
SAFARI: Final = "26.0"

_WINDOWS: Final = "Mozilla/5.0 (Windows NT 10.0; Win64; x64"
_WEBKIT: Final = "AppleWebKit/537.36 (KHTML, like Gecko)"
_CHROMIUM_ACCEPT: Final = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"
)
_CHROMIUM_ORDER: Final = (
    "Sec-Ch-Ua", "Sec-Ch-Ua-Mobile", "Sec-Ch-Ua-Platform", "Upgrade-Insecure-Requests", "User-Agent", "Accept",
    "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-User", "Sec-Fetch-Dest", "Referer", "Accept-Encoding",
    "Accept-Language",
)  # fmt: skip
_NAVIGATION: Final = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}  # for loading a page
_SECURE_ONLY: Final = "Sec-"  # browsers send these only to https sites


@dataclass(frozen=True, slots=True)
class Profile:
    """One browser. *order* lists every header it may send for a page, including those of the request."""

    order: tuple[str, ...]
    values: Mapping[str, str]
    encodings: tuple[str, ...] = ("gzip", "deflate", "br", "zstd")
    plain_encodings: tuple[str, ...] = ("gzip", "deflate")  # over http

    def dress(self, url: str, own: Mapping[str, str], decodable: Collection[str]) -> dict[str, str]:
        """The headers of a request for *url*, in order; *own* ones keep their values and win. Accept-Encoding lists
        only *decodable* encodings."""
        secure = url.startswith("https:")
        sent = dict(self._sent(url, own.get("Referer", ""), decodable, secure=secure)) | dict(own)
        first = {name: sent[name] for name in self.order if name in sent}
        return first | {name: value for name, value in sent.items() if name not in first}

    def sends(self, name: str, value: str) -> bool:
        """Whether a header may come from this profile, and so is removed with it."""
        return self.values.get(name) == value or name in {"Accept-Encoding", "Sec-Fetch-Site", "Sec-Fetch-User"}

    def _sent(self, url: str, referer: str, decodable: Collection[str], *, secure: bool) -> Iterator[tuple[str, str]]:
        for name, value in self.values.items():
            if secure or not name.startswith(_SECURE_ONLY):
                yield name, value
        taken = self.encodings if secure else self.plain_encodings
        yield "Accept-Encoding", ", ".join(name for name in taken if name in decodable)
        if secure:
            yield "Sec-Fetch-Site", relation(url, referer)
            if "Sec-Fetch-User" in self.order:
                yield "Sec-Fetch-User", "?1"


def relation(url: str, referer: str) -> str:
    """The value of Sec-Fetch-Site: none, same-origin, same-site or cross-site."""
    if not referer:
        return "none"
    here, there = urlsplit(url), urlsplit(referer)
    if (here.scheme, here.netloc) == (there.scheme, there.netloc):
        return "same-origin"
    return "same-site" if here.scheme == there.scheme and urls.same_site(url, referer) else "cross-site"


def _chromium(brand: str, agent: str) -> Profile:
    brands = f'"Chromium";v="{CHROMIUM}", "{brand}";v="{CHROMIUM}", "Not_A Brand";v="99"'
    return Profile(
        _CHROMIUM_ORDER,
        {
            "Sec-Ch-Ua": brands,
            "Sec-Ch-Ua-Mobile": "?0",
            "Sec-Ch-Ua-Platform": '"Windows"',
            "Upgrade-Insecure-Requests": "1",
            "User-Agent": f"{_WINDOWS}) {_WEBKIT} Chrome/{CHROMIUM}.0.0.0 Safari/537.36{agent}",
            "Accept": _CHROMIUM_ACCEPT,
            "Accept-Language": "en-US,en;q=0.9",
        }
        | _NAVIGATION,
    )


PROFILES: Final[Mapping[str, Profile]] = MappingProxyType(
    {
        "chrome": _chromium("Google Chrome", ""),
        "edge": _chromium("Microsoft Edge", f" Edg/{CHROMIUM}.0.0.0"),
        "firefox": Profile(
            (
                "User-Agent", "Accept", "Accept-Language", "Accept-Encoding", "Referer", "Upgrade-Insecure-Requests",
                "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User", "Priority",
            ),
            {
                "User-Agent": f"{_WINDOWS}; rv:{FIREFOX}.0) Gecko/20100101 Firefox/{FIREFOX}.0",
                "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                "Accept-Language": "en-US,en;q=0.5",
                "Upgrade-Insecure-Requests": "1",
                "Priority": "u=0, i",
            }
            | _NAVIGATION,
        ),
        "safari": Profile(
            (
                "Sec-Fetch-Dest", "User-Agent", "Accept", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Referer",
                "Accept-Language", "Priority", "Accept-Encoding",
            ),
            {
                "User-Agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 "
                f"(KHTML, like Gecko) Version/{SAFARI} Safari/605.1.15",
                "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                "Accept-Language": "en-US,en;q=0.9",
                "Priority": "u=0, i",
            }
            | _NAVIGATION,
            encodings=("gzip", "deflate", "br"),
        ),
    }
)  # fmt: skip
