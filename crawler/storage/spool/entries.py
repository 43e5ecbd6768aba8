"""Spool entries as bytes: exactly the documents that would have been sent to MongoDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

import bson
from bson.codec_options import CodecOptions
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument

from crawler.storage.collection_names import is_collection
from crawler.storage.items.documents import StoredDocument, run_in
from crawler.storage.items.rejections import Rejection

Entry = StoredDocument | Rejection
T = TypeVar("T", StoredDocument, Rejection)

_RAW: Final[CodecOptions[RawBSONDocument]] = CodecOptions(document_class=RawBSONDocument, tz_aware=True)
_DOCUMENT: Final = {
    "collection": str,
    "id": str,
    "content_hash": str,
    "fetched_at": datetime,
    "body": RawBSONDocument,
    "distinctive": bool,
    "run": str,
}
_REJECTION: Final = {"id": str, "body": RawBSONDocument}


class UnreadableError(Exception):
    """Intact bytes that this release cannot decode as an entry."""


def pack(entries: Sequence[Entry]) -> bytes:
    """Encode as BSON documents, one after the other."""
    return b"".join(bson.encode(_row(entry)) for entry in entries)


def unpack(payload: bytes) -> Iterator[Entry | UnreadableError]:
    """Decode what was packed, with an error in place of each invalid entry."""
    rows = bson.decode_iter(payload, _RAW)
    while True:
        try:
            row = next(rows, None)
            if row is None:
                return
            yield _document(row) if "collection" in row else _made(Rejection, _REJECTION, row)
        except UnreadableError as error:
            yield error
        except (BSONError, ValueError) as error:  # the rest of this payload cannot be located
            yield UnreadableError(f"no BSON: {error!s:.100}")
            return


def _document(row: Mapping[str, Any]) -> StoredDocument:
    made = _made(StoredDocument, _DOCUMENT, row)
    return made._replace(run=run_in(made.body.get("source")))


def _made(kind: type[T], form: Mapping[str, type], row: Mapping[str, Any]) -> T:
    values = dict(row)
    if unknown := sorted(values.keys() - form.keys()):
        raise UnreadableError(f"field {unknown[0]!r:.80} of another release")
    for name, value in values.items():
        if not isinstance(value, form[name]):
            raise UnreadableError(f"field {name!r} is a {type(value).__name__}")
    if not is_collection(name := values.get("collection", "none")):
        raise UnreadableError(f"{name!r:.80} is not the name of a collection")
    try:
        return kind(**values)
    except TypeError as error:  # a field is missing
        raise UnreadableError(str(error).partition(" ")[2]) from None


def _row(entry: Entry) -> dict[str, Any]:
    if isinstance(entry, Rejection):
        return {"id": entry.id, "body": entry.body}
    row = entry._asdict()
    del row["run"]  # its body names it
    return row
