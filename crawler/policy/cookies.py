"""Cookies as records that can be merged one by one, and the changes that a response makes to a jar."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.cookiejar import Cookie
from typing import Final

MAX_COOKIE: Final = 4_096  # characters of name and value, browsers' limit

Records = Mapping[str, str]  # "domain, path, name" on three lines -> the rest as JSON


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of a jar: records to set, names to remove, and how many cookies were too long to keep."""

    changed: Records
    removed: tuple[str, ...]
    too_long: int

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)


def name_of(cookie: Cookie) -> str:
    """A cookie's identity."""
    return f"{cookie.domain}\n{cookie.path}\n{cookie.name}"


def record_of(cookie: Cookie) -> str:
    """The rest of the cookie."""
    flags = [cookie.domain_specified, cookie.domain_initial_dot, cookie.path_specified, cookie.secure]
    return json.dumps([cookie.value, cookie.expires, *map(int, flags)])


def cookie_of(name: str, record: str) -> Cookie:
    """The inverse of both; raises ValueError for anything else."""
    domain, path, key = name.split("\n", 2)
    value, expires, has_domain, has_dot, has_path, secure = json.loads(record)
    return Cookie(
        version=0, name=key, value=value, port=None, port_specified=False, domain=domain,
        domain_specified=bool(has_domain), domain_initial_dot=bool(has_dot), path=path, path_specified=bool(has_path),
        secure=bool(secure), expires=expires, discard=expires is None, comment=None, comment_url=None, rest={},
    )  # fmt: skip


def records(jar: Iterable[Cookie]) -> Records:
    """All cookies of *jar* that are not too long."""
    return {name_of(one): record_of(one) for one in jar if len(one.name + (one.value or "")) <= MAX_COOKIE}


def changes(known: Records, jar: Iterable[Cookie]) -> Changes:
    """What was added, replaced or deleted in *jar* since it was *known*."""
    cookies = list(jar)
    now = records(cookies)
    changed = {name: record for name, record in now.items() if known.get(name) != record}
    return Changes(changed, tuple(name for name in known if name not in now), len(cookies) - len(now))
