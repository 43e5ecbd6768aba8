"""How much Scrapy's own cookie jars may keep: a worker that runs for weeks meets any number of sites and jars."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, MutableMapping
from http.cookiejar import Cookie
from typing import Any, Final

from scrapy.http.cookies import CookieJar

from crawler.urls import registrable

MOST_BYTES: Final = 32 * 1024 * 1024
COOKIE_BYTES: Final = 1_024  # of one besides its texts (measured: 0.9 KB)
JAR_BYTES: Final = 4_096  # of one besides its cookies, and of what is noted here (measured: 3.1 KB)

Place = tuple[Hashable, str]  # a jar's name, and a site: a registrable domain, whose hosts share cookies


class CookieJarLimit:
    """Drops the sites used longest ago from *jars*, down to half of *most* bytes, once they take more.

    Known weakness: a cookie that is set again counts again until all are counted, which takes some 50 ms.
    """

    def __init__(self, jars: MutableMapping[Any, CookieJar], most: int = MOST_BYTES) -> None:
        self._jars = jars
        self._most = most
        self._used: OrderedDict[Place, int] = OrderedDict()  # bytes, the last used at the end
        self._taken = 0

    def use(self, name: Hashable, host: str, cookies: Iterable[Cookie] = ()) -> int:
        """*host* is about to use the jar *name*, and to set *cookies*; returns how many others were dropped."""
        place = name, registrable(host)
        size = sum(map(_size, cookies))
        self._add(place, size if place in self._used else size + JAR_BYTES)
        self._used.move_to_end(place)
        return self._make_room() if self._taken > self._most else 0

    def _add(self, place: Place, size: int) -> None:
        self._used[place] = self._used.get(place, 0) + size
        self._taken += size

    def _make_room(self) -> int:
        self._count()
        dropped: set[Place] = set()
        while self._taken > self._most // 2 and len(self._used) > 1:
            place, size = self._used.popitem(last=False)
            self._taken -= size
            dropped.add(place)
        return self._drop(dropped)

    def _count(self) -> None:
        """What is there; a cookie that was replaced was added more than once."""
        self._used = OrderedDict.fromkeys(self._used, JAR_BYTES)
        self._taken = JAR_BYTES * len(self._used)
        for name, jar in self._jars.items():
            for cookie in jar:
                self._add((name, _site(cookie.domain)), _size(cookie))

    def _drop(self, places: set[Place]) -> int:
        before = sum(map(len, self._jars.values()))
        for name, jar in self._jars.items():
            kept = [cookie for cookie in jar if (name, _site(cookie.domain)) not in places]
            jar.clear()  # as a whole: it keeps an empty place for each domain and path that ever had a cookie
            for cookie in kept:
                jar.set_cookie(cookie)
        used = {name for name, _ in self._used}
        for name in self._jars.keys() - used:
            del self._jars[name]
        return before - sum(map(len, self._jars.values()))


def _site(domain: str) -> str:
    return registrable(domain.removeprefix("."))


def _size(cookie: Cookie) -> int:
    return COOKIE_BYTES + len(cookie.name) + len(cookie.value or "") + len(cookie.path)
