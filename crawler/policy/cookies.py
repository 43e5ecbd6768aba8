"""Cookies as records that can be merged one by one, and the changes that a response makes to a jar."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.cookiejar import Cookie
from typing import Final

MAX_COOKIE: Final = 4_096  # characters of name and value, browsers' limit
MAX_PATH: Final = 1_024  # characters of domain and path; browsers pass over longer ones, too
MAX_JAR: Final = 64 * 1024  # characters of a jar's records: servers refuse headers of a quarter of that

Records = Mapping[str, str]  # "domain, path, name" on three lines -> the rest as JSON


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of a jar: records to set, names to remove, and how many cookies were too long or found no room."""

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
    """The inverse of both; raises ValueError, OverflowError or RecursionError for anything else."""
    domain, path, key = name.split("\n", 2)
    match json.loads(record):
        case [str() | None as value, int() | None as expires, has_domain, has_dot, has_path, secure]:
            (name + (value or "")).encode()  # bytes that are no text are surrogates here
        case other:
            raise ValueError(f"a {type(other).__name__}, expected a cookie's value, its end and four flags")
    return Cookie(
        version=0, name=key, value=value, port=None, port_specified=False, domain=domain,
        domain_specified=bool(has_domain), domain_initial_dot=bool(has_dot), path=path, path_specified=bool(has_path),
        secure=bool(secure), expires=expires, discard=expires is None, comment=None, comment_url=None, rest={},
    )  # fmt: skip


def records(jar: Iterable[Cookie], known: Records) -> Records:
    """Those cookies of *jar* that are not too long and, *known* ones first, fit into one jar together."""
    found = {name_of(one): record_of(one) for one in jar if _is_short(one)}
    sizes = {name: len(name) + len(record) for name, record in found.items()}
    taken = sum(sizes.values())
    for name in sorted(found, key=known.__contains__) if taken > MAX_JAR else ():
        if taken <= MAX_JAR:
            break
        taken -= sizes[name]
        del found[name]
    return found


def changes(known: Records, jar: Iterable[Cookie]) -> Changes:
    """What was added, replaced or deleted in *jar* since it was *known*."""
    cookies = list(jar)
    now = records(cookies, known)
    changed = {name: record for name, record in now.items() if known.get(name) != record}
    return Changes(changed, tuple(name for name in known if name not in now), len(cookies) - len(now))


def _is_short(cookie: Cookie) -> bool:
    return len(cookie.name + (cookie.value or "")) <= MAX_COOKIE and len(cookie.domain + cookie.path) <= MAX_PATH
