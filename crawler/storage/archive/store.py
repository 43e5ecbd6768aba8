"""Where finished archive files are kept: the local directory, or an object store."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError
from obstore.store import ObjectStore, from_url

from crawler.errors import ConfigError
from crawler.storage.archive import files
from crawler.storage.archive.config import ArchiveConfig
from crawler.storage.archive.files import OpenFile
from crawler.storage.archive.index import KeptFile

STORE_ERRORS: Final = (BaseError, OSError)
LOCAL: Final = "local"
Span = tuple[int, int]


_CODE: Final = re.compile(r"<Code>([^<]{1,100})</Code>(?:\s*<Message>([^<]{1,200})</Message>)?")  # S3 and its like


class GoneError(Exception):
    """The file is no longer in the store."""


class RefusedError(Exception):
    """The store has the file and does not give it: it lies in an archive tier, say, or has rights of its own."""


def in_words(error: Exception) -> str:
    """What *error* is about, in a line: of STORE_ERRORS what the object store itself said, if it said something."""
    if (found := _CODE.search(str(error))) is not None:
        return f"{found[1]}: {found[2]}" if found[2] else found[1]
    return f"{' '.join(str(error).split()):.300}" or type(error).__name__


class Store:
    """Keeps files by name and reads parts of them; files still on this disk are read there."""

    def __init__(self, config: ArchiveConfig) -> None:
        self._directory: Path = config.directory
        self.where = config.uri or LOCAL
        self._remote: ObjectStore | None = None
        if config.uri:
            try:
                self._remote = from_url(config.uri, **config.options)
            except (BaseError, ValueError, TypeError) as error:
                allowed = f"a URI that obstore can open with ARCHIVE_OPTIONS ({str(error).splitlines()[0]:.200})"
                raise ConfigError("ARCHIVE_URI", config.uri, allowed) from None

    async def keep(self, file: OpenFile) -> None:
        """Move a finished file to its place; safe to repeat. Raises STORE_ERRORS."""
        if self._remote is None:
            await asyncio.to_thread(file.finish)
            return
        try:
            await obstore.put_async(self._remote, file.name, file.path)
        except (AlreadyExistsError, PermissionDeniedError):
            if await _size(self._remote, file.name) != file.size:  # else it is there, where nothing may be replaced
                raise
        await asyncio.to_thread(file.remove)

    async def read(self, name: str, spans: Sequence[Span]) -> list[bytes | Exception]:
        """The bytes of each (offset, length), or an error for a range that the file does not have.

        Raises GoneError, RefusedError, or STORE_ERRORS when the object store fails.
        """
        found = await asyncio.to_thread(_read_local, self._directory, name, spans)
        if found is not None:
            return found
        if self._remote is None:
            raise GoneError(f"{name} is not in {self._directory}")
        try:
            size: int = (await obstore.head_async(self._remote, name))["size"]
            within = [span for span in spans if is_within(span, size)]
            parts = await _ranges(self._remote, name, within) if within else []
        except FileNotFoundError:
            raise GoneError(f"{name} is not in {self.where}") from None
        read = {span: bytes(part) for span, part in zip(within, parts, strict=True)}
        return [read.get(span, _outside(span)) for span in spans]

    def own(self, found: Sequence[KeptFile]) -> list[KeptFile]:
        """Those that are here, or were deleted here: where files stay on local disks, others' are no business of ours.
        Blocks."""
        return [one for one in found if self._remote is not None or files.is_here(self._directory, one.name)]

    async def delete(self, name: str) -> None:
        """Remove a finished file; a missing one is no error."""
        if self._remote is None:
            await asyncio.to_thread((self._directory / name).unlink, missing_ok=True)
            return
        try:
            await obstore.delete_async(self._remote, name)
        except FileNotFoundError:
            return


def is_within(span: Span, size: int) -> bool:
    """Whether a file of *size* bytes has this range."""
    offset, length = span
    return offset >= 0 and 0 < length <= size - offset


async def _size(remote: ObjectStore, name: str) -> int:
    """-1 for a file that is not there, or that we may not ask about."""
    try:
        return (await obstore.head_async(remote, name))["size"]
    except (FileNotFoundError, PermissionDeniedError):
        return -1


async def _ranges(remote: ObjectStore, name: str, spans: Sequence[Span]) -> Sequence[Any]:
    starts, lengths = [offset for offset, _ in spans], [length for _, length in spans]
    try:
        return await obstore.get_ranges_async(remote, name, starts=starts, lengths=lengths)
    except PermissionDeniedError as error:  # of this file alone: we may ask about it
        raise RefusedError(f"the object store does not return it ({in_words(error)})") from None


def _outside(span: Span) -> Exception:
    return ValueError(f"the file has no {span[1]} bytes from byte {span[0]} on")


def _read_local(directory: Path, name: str, spans: Sequence[Span]) -> list[bytes | Exception] | None:
    for _ in range(2):  # its name may change between the tries: it is being finished
        try:
            path = files.find(directory, name)
            if path is None:
                return None
            with open(path, "rb", opener=_unblocked) as stream:
                size = os.fstat(stream.fileno()).st_size
                return [_part(stream.fileno(), span, size) for span in spans]
        except FileNotFoundError:
            continue
        except OSError as error:  # this file cannot be read; others can
            return [error] * len(spans)
    return None


def _unblocked(path: str, flags: int) -> int:
    """Opens whatever is there without waiting for it, such as a pipe that nobody writes to."""
    return os.open(path, flags | os.O_NONBLOCK)


def _part(handle: int, span: Span, size: int) -> bytes | Exception:
    try:
        return os.pread(handle, span[1], span[0]) if is_within(span, size) else _outside(span)
    except OSError as error:
        return error
