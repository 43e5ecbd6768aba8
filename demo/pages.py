"""A folder of saved real pages, each served as a host on loopback: input not made for the demo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from crawler.urls import canonicalize
from demo import scoring
from demo.site import Fault, Reply

RULES: Final = Path(__file__).with_name("pages.toml")
_HOSTS_PER_NET: Final = 250  # 127.0.1.1 to 127.0.1.250, then 127.0.2.1 ...


class PagesError(Exception):
    """The folder cannot be served; the message says why."""


@dataclass(frozen=True, slots=True)
class SavedPage:
    """One page and where it is served: on its own host, with its original path and query."""

    page: scoring.Page
    host: str
    path: str
    query: str

    def url(self, port: int) -> str:
        """Its URL on loopback."""
        return f"http://{self.host}:{port}{self.path}" + (f"?{self.query}" if self.query else "")


class PageSite:
    """The host of one saved page."""

    def __init__(self, saved: SavedPage) -> None:
        self._address = _address(saved.path, parse_qsl(saved.query, keep_blank_values=True))
        html = saved.page.html
        self._reply = Reply(200, html, content_type=f"text/html{_charset(html)}")

    def reply(self, path: str, query: Mapping[str, str]) -> Reply:
        """The page at its URL (parameters in any order, with or without tracking), 404 elsewhere."""
        if _address(path, query.items()) == self._address:
            return self._reply
        return Reply(404, content_type="text/plain")

    def fault(self, path: str) -> Fault | None:
        """Saved pages never fail."""
        return None


def load(folder: Path) -> list[SavedPage]:
    """The pages of *folder* (`html/*.html.gz` and `truth.json`); raises PagesError saying what is wrong."""
    try:
        return [_place(number, page) for number, page in enumerate(scoring.load(folder))]
    except OSError as error:
        expected = "expected html/*.html.gz and truth.json in the folder"
        raise PagesError(f"{error.filename or folder}: {error.strerror or error}; {expected}") from None
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        what = f"{folder / 'truth.json'} must map file names to their URL and fields"
        raise PagesError(f"{what} ({type(error).__name__}: {error})") from None


def _place(number: int, page: scoring.Page) -> SavedPage:
    parts = urlsplit(page.url)
    net, host = divmod(number, _HOSTS_PER_NET)
    return SavedPage(page, f"127.0.{1 + net}.{1 + host}", parts.path or "/", parts.query)


def _address(path: str, parameters: Iterable[tuple[str, str]]) -> str:
    return canonicalize(f"http://any{path}?{urlencode(list(parameters))}")


def _charset(body: bytes) -> str:
    """The charset: mostly UTF-8 whatever the page declares; otherwise what it declares."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return ""
    return "; charset=utf-8"
