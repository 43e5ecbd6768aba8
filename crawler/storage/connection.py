"""The only way to MongoDB: a client whose writes are acknowledged once they are in the journal."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from typing import Any, Final

from pymongo import AsyncMongoClient, WriteConcern
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import BulkWriteError, InvalidName, NetworkTimeout, PyMongoError

from crawler import config
from crawler.errors import ConfigError, ServiceError
from crawler.utils import tasks

Client = AsyncMongoClient[dict[str, Any]]
Database = AsyncDatabase[dict[str, Any]]

# Without j a killed server lost acknowledged writes; majority also keeps them through a failover.
WRITE_CONCERN = WriteConcern(w="majority", j=True)
_DENIED: Final = re.compile(r'^not authorized on (\S+) to execute command \{ (\w+): (?:"([^"]*)")?')
_STRANGER: Final = re.compile(r"[Aa]uthentication failed|requires authentication")
# A write waits for the journals of most members, without an end of its own.
_SILENCE: Final = ("No servers found yet", "operation cancelled")  # by a driver whose own probe got no answer
_NO_CONNECTION: Final = re.compile(r"\[Errno (\d+)\] Connect call failed \(.*?\)")  # with the address once more
_ENDS: Final = (" (configured timeouts:", ", full error:", ", Timeout: ", "\n")  # where the details begin
_SILENT: Final = "as when it hangs, is overloaded, or its replica set has no majority (`rs.status()`)"
OLDEST_WIRE_VERSION = 13  # MongoDB 5.0: the first with $unsetField


def connect(settings: Mapping[str, Any]) -> Client:
    """A client for MONGODB_URI, or for the bundled server if that is empty; opens no connection yet.

    Belongs to the event loop that first uses it. Raises ConfigError for an invalid URI (never showing its credentials),
    ServiceError if the bundled server does not start.
    """
    uri = str(settings.get("MONGODB_URI") or "") or _bundled(settings)
    config.check_escaped("MONGODB_URI", uri, "/?")
    timeout_ms = int(config.number(settings, "STORAGE_CONNECT_SECONDS") * 1000)
    try:
        return AsyncMongoClient(
            uri,
            tz_aware=True,
            datetime_conversion="DATETIME_CLAMP",  # a time beyond the calendar, by another program, spoils no batch
            unicode_decode_error_handler="replace",  # the same of bytes that are no UTF-8
            appname="shoal",
            serverSelectionTimeoutMS=timeout_ms,
            connectTimeoutMS=timeout_ms,
            socketTimeoutMS=int(config.number(settings, "STORAGE_REPLY_SECONDS") * 1000),
            # shorter than most pauses of an outage: a user that was made anew is refused on connections of the old one
            maxIdleTimeMS=int(min(config.number(settings, "STORAGE_RETRY_MAX_SECONDS") / 3, 5) * 1000),
        )
    except OSError as error:
        reason = f"{error.strerror}: {error.filename}" if error.filename else str(error)
        allowed = f"a URI whose options name readable files, such as tlsCAFile ({reason})"
        raise ConfigError("MONGODB_URI", config.shown_uri(uri), allowed) from None
    except (PyMongoError, ValueError) as error:
        form = "mongodb://[user:password@]host:port[/?options], user and password percent-encoded"
        allowed = f"{form} ({_reason(uri, error)})"
        raise ConfigError("MONGODB_URI", address(uri), allowed) from None


def database(client: Client, settings: Mapping[str, Any]) -> Database:
    """The project's database; raises ConfigError for a name that MongoDB rejects."""
    name = settings.get("MONGODB_DATABASE")
    try:
        return client.get_database(config.text(settings, "MONGODB_DATABASE"), write_concern=WRITE_CONCERN)
    except InvalidName as error:
        raise ConfigError("MONGODB_DATABASE", name, f"a valid database name ({error})") from None


async def check(client: Client, settings: Mapping[str, Any]) -> None:
    """Return once the server answers a command; raises ServiceError, which says where it is and what to do.

    Takes at most about STORAGE_CONNECT_SECONDS.
    """
    try:
        hello = await client.admin.command("hello")
        await database(client, settings).command("listCollections", nameOnly=True)
    except PyMongoError as error:
        reason = _reason(str(settings.get("MONGODB_URI")), error)
        hint = "check that it runs and that MONGODB_URI is right, or leave MONGODB_URI empty for the bundled one"
        if not settings.get("MONGODB_URI"):
            hint = "`scrapy services status` shows it, and the directory with its log"
        raise ServiceError(f"MongoDB at {where(settings)} does not serve us: {reason}; {hint}") from None
    if hello["maxWireVersion"] < OLDEST_WIRE_VERSION:
        raise ServiceError(f"MongoDB at {where(settings)} is too old: use 5.0 or newer")


@contextlib.asynccontextmanager
async def session(settings: Mapping[str, Any]) -> AsyncIterator[Database]:
    """The database for a command, checked first; later MongoDB errors become ServiceError too."""
    if not settings.get("MONGODB_URI"):
        await tasks.apart(partial(_bundled, settings))  # it may take minutes to start
    client = connect(settings)
    try:
        await check(client, settings)
        yield database(client, settings)
    except PyMongoError as error:
        reason = _reason(str(settings.get("MONGODB_URI")), error)
        raise ServiceError(f"MongoDB at {where(settings)} failed: {reason}") from error
    finally:
        await client.close()


@contextlib.contextmanager
def served(collection: str) -> Iterator[None]:
    """Raise MongoDB's errors as ServiceError."""
    try:
        yield
    except PyMongoError as error:
        raise ServiceError(f"MongoDB does not serve the collection {collection}: {first_clause(error):.300}") from error


def where(settings: Mapping[str, Any]) -> str:
    """The server's name in messages."""
    return address(str(settings.get("MONGODB_URI") or "")) or "the bundled server"


def address(uri: str) -> str:
    """The hosts and ports of a MongoDB URI, without user, password or options; `...` for a port that is no number:
    where the host was left out it is the password."""
    hosts = (uri.partition("://")[2] or uri).rpartition("@")[2].split("/")[0].split("?")[0]
    return re.sub(r":(?!\d+(?:,|$))[^,:\]]*(?=,|$)", ":...", hosts)


def _bundled(settings: Mapping[str, Any]) -> str:
    from crawler import embedded

    return embedded.ensure(config.text(settings, "EMBEDDED_DATA_DIR"), redis=False).mongodb_uri


def _reason(uri: str, error: Exception) -> str:
    """The first clause of PyMongo's message, without the password."""
    return config.without_password(first_clause(error), uri)


def first_clause(error: Exception) -> str:
    """PyMongo's message without what it appends about timeouts and the server's whole answer; for a right that the user
    lacks which one, and where it is described; for a user or password that it refuses where they are from; for an
    answer that does not come what may keep it; for a batch why its first document was refused."""
    if denied := _DENIED.search(str(error)):
        database, command, collection = denied.groups()
        what = f"{command} on {collection}" if collection else command
        cure = "docs/operations.md has the roles for workers and readers"
        return f"the user of MONGODB_URI may not run {what} in database {database}: {cure}"
    refused = error.details.get("writeErrors") if isinstance(error, BulkWriteError) else None
    text = str(refused[0].get("errmsg", "")) if refused else str(error)  # else "batch op errors occurred"
    for end in _ENDS:
        text = text.partition(end)[0]
    text = _NO_CONNECTION.sub(lambda found: os.strerror(int(found[1])), text)
    if _STRANGER.search(text):
        return f"it does not know the user of MONGODB_URI, or has another password for it ({text.rstrip('.')})"
    text = "timed out" if text in _SILENCE else text
    return f"{text}, {_SILENT}" if isinstance(error, NetworkTimeout) or text.endswith("timed out") else text
