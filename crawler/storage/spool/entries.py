"""What waits in the spool, as bytes: the very documents that MongoDB would have been sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import bson
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument

from crawler.storage.documents import Document
from crawler.storage.rejections import Rejection

Entry = Document | Rejection

_RAW: Final[CodecOptions[RawBSONDocument]] = CodecOptions(document_class=RawBSONDocument, tz_aware=True)


def pack(entries: Sequence[Entry]) -> bytes:
    """BSON documents, one after the other."""
    return b"".join(bson.encode(_row(entry)) for entry in entries)


def unpack(payload: bytes) -> Iterator[Entry]:
    """What was packed; raises BSONError for anything else."""
    for row in bson.decode_all(payload, _RAW):
        if "collection" in row:
            yield Document(**row)
        else:
            yield Rejection(row["id"], row["body"])


def _row(entry: Entry) -> dict[str, Any]:
    if isinstance(entry, Rejection):
        return {"id": entry.id, "body": entry.body}
    return entry._asdict()
