"""A folder of saved real pages as that many hosts on loopback: the demo's job on input nobody wrote for it.

The folder holds `html/*.html.gz` and `truth.json`, which maps each file to its URL and, per field, to the
list of accepted values.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from demo.site import Fault, Reply

_HOSTS_PER_NET: Final = 250  # 127.0.1.1 to 127.0.1.250, then 127.0.2.1 ...


class PagesError(Exception):
    """The folder cannot be served; the text says why."""


@dataclass(frozen=True, slots=True)
class SavedPage:
    """One page and where it is served: a host of its own, under the path and query it has on the web."""

    file: Path
    host: str
    path: str
    query: str
    fields: Mapping[str, list[str]]  # accepted values; a field the page does not state is absent

    def url(self, port: int) -> str:
        """Its address on loopback."""
        return f"http://{self.host}:{port}{self.path}" + (f"?{self.query}" if self.query else "")


class PageSite:
    """The host of one saved page: that page, and nothing else."""

    def __init__(self, page: SavedPage) -> None:
        self._page = page
        self._query = dict(parse_qsl(page.query, keep_blank_values=True))

    def reply(self, path: str, query: Mapping[str, str]) -> Reply:
        """The page under its own address (parameters in any order, or fewer of them), 404 elsewhere."""
        if path != self._page.path or not query.items() <= self._query.items():
            return Reply(404, content_type="text/plain")
        body = gzip.decompress(self._page.file.read_bytes())
        return Reply(200, body, content_type=f"text/html{_charset(body)}")

    def fault(self, path: str) -> Fault | None:  # noqa: ARG002
        """Saved pages never fail."""
        return None


def load(folder: Path) -> list[SavedPage]:
    """The pages of *folder* in the order of their file names; raises PagesError saying what is wrong."""
    try:
        truth: dict[str, dict[str, Any]] = json.loads((folder / "truth.json").read_text())
        return [_page(folder, number, *entry) for number, entry in enumerate(sorted(truth.items()))]
    except OSError as error:
        raise PagesError(f"{error.filename}: {error.strerror}") from None
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise PagesError(
            f"{folder / 'truth.json'} must map file names to their URL and fields: {error}"
        ) from None


def _page(folder: Path, number: int, name: str, known: dict[str, Any]) -> SavedPage:
    file = folder / "html" / name
    file.stat()
    parts = urlsplit(known["url"])
    net, host = divmod(number, _HOSTS_PER_NET)
    fields = {field: values for field, values in known.items() if field != "url"}
    return SavedPage(file, f"127.0.{1 + net}.{1 + host}", parts.path or "/", parts.query, fields)


def _charset(body: bytes) -> str:
    """Pages are mostly saved as UTF-8 whatever they say themselves; others speak for themselves."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return ""
    return "; charset=utf-8"
