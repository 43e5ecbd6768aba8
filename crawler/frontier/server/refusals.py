"""What the errors of a server mean, and what to do about them."""

from __future__ import annotations

import re
from typing import Final

from redis.asyncio.cluster import ClusterNode
from redis.asyncio.sentinel import MasterNotFoundError
from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    MasterDownError,
    MovedError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TryAgainError,
)

# By error code, or by words of a message without one.
_CURES: Final = {
    "MISCONF": "takes no writes because it cannot save to its disk: its log says why (usually the disk is full)",
    "READONLY": "is a replica, which takes no writes: set REDIS_URL to the primary",
    "NOREPLICAS": "takes no writes because it has fewer replicas than min-replicas-to-write: start them",
    "OOM": "takes no writes because it is full: raise its maxmemory, or free some memory",
    "BUSY": "is busy with a script: wait, or end it with SCRIPT KILL",
    "UNKILLABLE": "is busy with a script that has written: wait",
    "LOADING": "is still loading its data: wait",
    "CLUSTERDOWN": "is a Cluster with nodes down: start them",
    "No master found": "has no primary that its Sentinels know: start them and it, or correct REDIS_URL",
    "MASTERDOWN": "is a replica that has lost its primary: set REDIS_URL to the primary",
    "MOVED": "is a node of a Cluster: set REDIS_CLUSTER to True",
    "ASK": "is a node of a Cluster: set REDIS_CLUSTER to True",
    "TRYAGAIN": "is moving data between its nodes: wait",
    "non local key": "is moving data between its nodes: wait",  # to a script, at its first key
    "CROSSSLOT": "is a Cluster behind one address: set REDIS_CLUSTER to True",
    "NOAUTH": "rejects the user or password: check REDIS_URL or REDIS_PARAMS",
    "WRONGPASS": "rejects the user or password: check REDIS_URL or REDIS_PARAMS",
    "DENIED": "is in protected mode: set a password there, and in REDIS_URL",
    "DB index": "has no database of that number: see its `databases`, and correct REDIS_URL",
    "max number of clients": "takes no more connections: raise its maxclients, or end what holds them",
    "cluster support disabled": "is no Cluster: set REDIS_CLUSTER to False",
    "WRONGTYPE": "holds a value of another type there: rename that key, or delete it",
    "[Uu]nknown command": "lacks a command that is needed: use Redis 7 or Valkey 7.2 or later, and rename none",
    # Redis 7.0 does not say which command or key it was
    "user executing the script can't": "does not permit this user a command or key that the frontier needs: see the "
    "ACL in docs/operations.md",
    "user_script": "holds a value that this release cannot read, or the release has a bug: report this line",
}
_UNKNOWN: Final = "gave an error that this release does not know: see its log, mend it, and try again"
_CODES: Final = (
    (ReadOnlyError, "READONLY"),
    (OutOfMemoryError, "OOM"),
    (ClusterDownError, "CLUSTERDOWN"),
    (MasterDownError, "MASTERDOWN"),
    (BusyLoadingError, "LOADING"),
    (AuthenticationError, "NOAUTH"),
    (TryAgainError, "TRYAGAIN"),
    (MovedError, "MOVED"),
    (AskError, "ASK"),
)
_PERMISSION: Final = re.compile(
    r"User (\S+) has no permissions to run the '([^']+)' command|o permissions to access a "
)


def is_answer(error: BaseException) -> bool:
    """Whether the driver's *error* is what a server said, and no connection that failed."""
    if isinstance(error, ResponseError | AuthenticationError | BusyLoadingError | MasterNotFoundError):
        return True
    return bool(getattr(error, "status_code", None)) or "cluster support disabled" in str(error)


def denied_by(error: BaseException | None, call: str, key: str) -> set[str]:
    """The rights of which the user of *call* lacks one, says *error*: commands as Redis knows them, scripts, or the
    pattern of *key*; none for other errors."""
    if found := _PERMISSION.search(str(error)):
        return {call, found[2].upper()} if found[2] else {pattern_of(key)}
    return {call} if "user executing the script can't" in str(error) else set()


def said_by(error: BaseException) -> str:
    """The message of the driver's *error* with its code, which redis-py cuts off."""
    code = getattr(error, "status_code", None) or next((code for kind, code in _CODES if isinstance(error, kind)), "")
    text = str(error).rpartition("of pipeline caused error: ")[2]
    if isinstance(error, MasterNotFoundError):
        return text.partition(" : ")[0]  # before redis-py's description of its clients
    return text if code == "ERR" or text.startswith(code) else f"{code} {text}"


def node_of(error: BaseException) -> str:
    """host:port of the node of a Cluster that the driver's *error* came from; "" where it does not tell."""
    node = getattr(error, "connection", None)
    return node.name if isinstance(node, ClusterNode) else ""


def cure(error: BaseException, key: str = "") -> str:
    """What is the matter with a server that refused a call about *key*, and what to do; reads on from "Redis"."""
    said = said_by(error)
    if found := _PERMISSION.search(said):
        rule = f"{found[1]} +{found[2]}" if found[1] else f"USER ~{pattern_of(key)}"
        return (
            f"does not permit this user what the frontier needs (ACL SETUSER {rule}): see the ACL in docs/operations.md"
        )
    return next((words for code, words in _CURES.items() if re.search(rf"\b{code}\b", said)), _UNKNOWN)


def pattern_of(key: str) -> str:
    """The keys that belong to *key*, as an ACL rule names them: a shard's, or start URLs and the leases beside them."""
    if shard := re.fullmatch(r"(\{.*:)\d+\}.*", key):
        return f"{shard[1]}*"
    return f"{key} ~{{{key}}}:*" if key and "{" not in key else f"{key}*"
