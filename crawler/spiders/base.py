"""Base of the fleet's spiders: settings of the shared frontier, start URLs from Redis."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, ClassVar, Final

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import FormRequest, Response
from scrapy.settings import BaseSettings
from scrapy_redis import defaults
from scrapy_redis.spiders import RedisSpider

from crawler import urls
from crawler.errors import ConfigError, MessageError
from crawler.routing.push_schema import external_meta, json_object
from crawler.spiders.reading import ReadingMixin

# The scope of spiders that follow whatever a page links to: nobody has looked at these links.
GUESSED: Final = MappingProxyType({"traps": "all", "nofollow": True})


class FrontierSpider(ReadingMixin, RedisSpider):  # type: ignore[misc]
    """Under `scrapy crawl` it leases from the shared frontier and its items are stored.

    In every other command (`shell`, `fetch`, `parse`, `check` ...) it is a plain Scrapy spider and touches neither
    Redis nor MongoDB. `start_urls`, if any, are queued once for the fleet.
    """

    start_urls: ClassVar[list[str]] = []
    follows: bool = True  # False in a re-parse, which discards requests: a callback need not build them
    crawl_scope: ClassVar[Mapping[str, Any]] = MappingProxyType({})  # see docs/scope.md
    takes: ClassVar[frozenset[str]] = frozenset()  # arguments beside attributes of the class
    redis_key: str | None
    redis_encoding: str | None
    judge_links: Callable[[Response], Callable[[str], bool] | None] | None = None  # in a crawl of the fleet

    def setup_redis(self, crawler: Crawler | None = None) -> None:
        """Read the names only: the frontier leases start URLs itself, without waiting for the spider to be idle."""
        self.redis_key = key_of_start_urls(self.name, self.redis_key, self.settings)
        self.redis_encoding = self.redis_encoding or self.settings.get("REDIS_ENCODING") or defaults.REDIS_ENCODING

    @property
    def excludes(self) -> bool:
        """Whether links that rules exclude are left out here: in a crawl of the fleet the scope does it, and counts."""
        return not self.settings.getbool("FRONTIER_ENABLED")

    @property
    def is_unwrapped(self) -> bool:
        """Whether pages are parsed by a `parse` of ours alone, and its output is nobody's before it is Scrapy's."""
        room = __name__.rpartition(".")[0]
        return all(method.__module__.rpartition(".")[0] == room for method in (self.parse, self._parse))

    def plain_requests(self, response: Response, links: Iterable[str]) -> Iterator[Request]:
        """A plain request for each of *links* of *response*; none for those that the fleet is known to have, where
        nobody would see it."""
        is_known = self.judge_links(response) if self.judge_links is not None else None
        for url in links:
            if is_known is None or not is_known(url):
                yield Request(url)

    async def start(self) -> AsyncIterator[Any]:
        """The spider's own `start_urls`: every worker offers them, the fleet crawls each once."""
        for url in self.start_urls:
            yield Request(url)

    def make_request_from_data(self, data: bytes) -> Request:
        """The request for one entry of the start-URLs key, as scrapy-redis documents it.

        A plain URL, or a JSON object with `url`, optional `method` and `meta`; other keys are form data. Not
        deduplicated. Raises MessageError, which says what is wrong with the entry.
        """
        text = _text(data, self.redis_encoding or "utf-8")
        if not text.startswith("{"):
            return Request(urls.check(text), dont_filter=True)
        fields = json_object(text)
        if not isinstance(url := fields.pop("url", None), str):
            raise MessageError(f"no URL under the key 'url': {text[:200]}")
        method = str(fields.pop("method", "GET")).upper()
        meta = fields.pop("meta", None) or {}
        if not isinstance(meta, dict):
            raise MessageError(f"'meta' is a {type(meta).__name__}: expected an object: {text[:200]}")
        formdata = {key: _form_value(value) for key, value in fields.items()}
        return FormRequest(
            urls.check(url), dont_filter=True, method=method, formdata=formdata or None, meta=external_meta(meta)
        )


def _text(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding).strip()
    except UnicodeDecodeError as error:
        raise MessageError(f"not {encoding} text ({error.reason} at byte {error.start}): {data[:80]!r}") from None


def _form_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_form_value(one) for one in value]
    return value if isinstance(value, str) else json.dumps(value)


def key_of_start_urls(spider: str, own: str | None, settings: BaseSettings) -> str:
    """The Redis key of *spider*, which may have its *own*; raises ConfigError for one that cannot be filled in."""
    key = own or settings.get("REDIS_START_URLS_KEY") or defaults.START_URLS_KEY
    with suppress(TypeError, ValueError, KeyError):  # `100%`, `%(spider)s`
        filled = str(key) % {"name": spider}
        if filled.strip():
            return filled
    where = f"redis_key of spider {spider}" if own else "REDIS_START_URLS_KEY"
    raise ConfigError(where, key, "the name of a Redis key; %(name)s is the spider's name, and %% a percent sign")
