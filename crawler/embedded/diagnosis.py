"""Turns a server's last log lines into one line that says what to do."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

ENOUGH_MB = 16  # a fresh mongod writes one journal file of this size
MISSING_LIBRARY = re.compile(r"error while loading shared libraries: ([^:\s]+)")
DISK_FULL = os.strerror(errno.ENOSPC)
NOT_FATAL = (" * ", " # WARNING ")  # Valkey's notices, and its advice about the system
PORT_TAKEN = os.strerror(errno.EADDRINUSE)
NO_THREAD = os.strerror(errno.EAGAIN)
LOCKED = "DBPathInUse"  # of mongod's, which gives that error, too


def explain(words: str, directory: Path) -> str:
    """Why a server whose log ends with *words* cannot run in *directory*."""
    if missing := MISSING_LIBRARY.search(words):
        return f"it needs {missing[1]} of OpenSSL 3 or libcurl4 (`apt-get install libssl3 libcurl4`)"
    if (free_mb := _free_mb(directory)) < ENOUGH_MB or DISK_FULL in words:
        return f"the disk of {directory} is full ({free_mb:.0f} MB free, it needs {ENOUGH_MB} MB to start)"
    if NO_THREAD in words and LOCKED not in words:
        return "no thread is left for it (see `ulimit -u`; in a container, its limit of processes)"
    return "; ".join([*_complaints(words)][-3:]) or "it ended without a log line"


def _free_mb(directory: Path) -> float:
    try:
        return shutil.disk_usage(directory).free // 2**20
    except FileNotFoundError:  # deleted meanwhile
        return math.inf


def _complaints(words: str) -> Iterator[str]:
    """The lines that matter: mongod logs JSON and marks errors E or F, Valkey marks them with `#`."""
    for line in words.splitlines():
        if not line.startswith("{"):
            if line.strip() and not any(mark in line for mark in NOT_FATAL):
                yield line.strip()
            continue
        try:
            entry = json.loads(line)
        except ValueError:  # truncated by a full disk or a kill
            continue
        if entry.get("s") in ("E", "F"):
            details = entry.get("attr")
            told = [details.get("error", ""), details.get("message", "")] if isinstance(details, dict) else []
            yield " ".join(f"{part}".strip() for part in (entry.get("msg", ""), *told) if part)
