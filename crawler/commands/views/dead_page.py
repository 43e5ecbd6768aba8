"""The page behind a dead letter, from the archive: `scrapy dead show ID --page`."""

from __future__ import annotations

import re
import sys
from typing import BinaryIO, Final

from scrapy.settings import BaseSettings

from crawler.errors import ShoalError
from crawler.frontier.messages import DeadLetter
from crawler.storage import connection
from crawler.storage.archive.config import ArchiveConfig
from crawler.storage.archive.index import Index
from crawler.storage.archive.reader import Reader, Stored
from crawler.storage.archive.store import STORE_ERRORS, Store, in_words

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # except tabs and line feeds


async def page_of(settings: BaseSettings, letter: DeadLetter) -> Stored:
    """The archived page that *letter* names, else the last one of its request.

    Raises ShoalError, which says why there is none, or where it is.
    """
    url = letter.detail.get("url")
    query = {"_id": named} if (named := letter.detail.get("page")) else {"url": url, "request_id": letter.id}
    async with connection.session(settings) as database:
        reader = Reader(Index(database), Store(ArchiveConfig.from_settings(settings)))
        try:
            found = await reader.last(query)
        except STORE_ERRORS as error:
            raise ShoalError(f"the archive cannot be read (ARCHIVE_URI, ARCHIVE_DIR): {in_words(error)}") from None
    if found is None:
        why = "the archive no longer has it" if named else "none was archived: ARCHIVE_PAGES says which are"
        raise ShoalError(f"dead letter {letter.id} has no page: {why}")
    if found.page is None:
        where = f"; worker {letter.worker} wrote it, perhaps to its own disk" if letter.worker else ""
        raise ShoalError(f"the page of dead letter {letter.id} is not here: {found}{where}")
    return found


def show(found: Stored, out: BinaryIO, *, to_terminal: bool) -> None:
    """Write the body to *out* unchanged, and its metadata to standard error.

    A terminal gets no control characters, which a page could abuse.
    """
    page = found.page
    assert page is not None
    headers = "".join(f"{name}: {value}\n" for name, value in page.headers)
    head = (
        f"{page.url}\n{page.status}, fetched {page.fetched_at:%Y-%m-%d %H:%M:%S} UTC by {page.worker or 'a worker'}\n"
    )
    sys.stderr.write(_harmless(f"{head}{headers}\n"))
    body = _harmless(page.body.decode("utf-8", "replace")).encode() if to_terminal else page.body
    out.write(body)
    out.flush()


def _harmless(text: str) -> str:
    return _CONTROL.sub("", text)
