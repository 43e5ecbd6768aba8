"""Spider middleware that cuts links which are out of scope, and counts them by rule."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cached_property
from typing import Any, Final, NamedTuple

from scrapy import Request
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.http import Response, TextResponse
from scrapy.spidermiddlewares.depth import DepthMiddleware

from crawler import stats as names
from crawler.extraction import Document
from crawler.extraction.links import MANY_LINKS
from crawler.extraction.structured.opengraph import metas
from crawler.meta import ANY_SCOPE
from crawler.middlewares.fleet import FleetMiddleware
from crawler.middlewares.outputs import OutputMiddleware
from crawler.policy.robots.tags import NOFOLLOW, NOINDEX, asked
from crawler.policy.rules.scope import Scope, ScopeRules
from crawler.routing.scoping import Scopes
from crawler.worker.leases.held import HeldLease

NOTHING: Final = frozenset[str]()


class LinkingPage(NamedTuple):
    """What links on it are judged by."""

    response: Response
    held: HeldLease
    rules: ScopeRules
    scope: Scope
    refused: frozenset[str]


class ScopeMiddleware(FleetMiddleware, OutputMiddleware[LinkingPage]):
    """Applies `ScopeRules` to what a callback yields. Requests with `dont_filter` or `meta["any_scope"]` are exempt.

    What Scrapy cuts itself (`allowed_domains`, DEPTH_LIMIT) is only counted here.
    """

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Start requests count as pushed URLs: see `ScopeRules.pushed`."""
        async for output in start:
            if not isinstance(output, Request) or output.dont_filter or not (rule := self._pushed(output)):
                yield output
            else:
                self._worker.cuts.count(rule, output.url, self._worker.generation.id)

    def begin(self, response: Response) -> LinkingPage | None:
        """What its links are judged by."""
        held = self._worker.book.behind(response)
        if held is None:
            return None
        rules = self._scopes.of(held.lease.generation)
        scope = rules.of(response.url)
        refused = self._refused(response, scope) if scope.nofollow or scope.noindex else NOTHING
        return LinkingPage(response, held, rules, scope, refused)

    def each(self, output: Any, page: LinkingPage) -> Any:
        """Pass on everything in scope."""
        if not isinstance(output, Request):
            if output is None or NOINDEX not in page.refused:
                return output
            self._count(NOINDEX, page.response.url, page.held)
            return None
        return output if output.dont_filter or output.meta.get(ANY_SCOPE) else self._judged(output, page)

    def end(self, page: LinkingPage) -> None:
        """Count what our spiders found in the page."""
        for rule in (NOFOLLOW, MANY_LINKS):
            if rule in page.response.flags:
                self._count(rule, page.response.url, page.held)

    def _pushed(self, request: Request) -> str:
        return self._scopes.of(self._worker.generation.id).pushed(request.url)

    def _judged(self, request: Request, page: LinkingPage) -> Request | None:
        depth = 0 if request.meta.get("depth_reset") else _depth(page.response) + 1
        url, rule = page.rules.link(request.url, page.response.url, depth, page.scope)
        if rule or NOFOLLOW in page.refused:
            self._count(rule or NOFOLLOW, url, page.held)
            return None
        if self._is_offsite(request):
            self._count("offsite", url, page.held)
        elif self._most_deep and depth > self._most_deep:
            self._count("depth", url, page.held)
        if url == request.url:
            return request
        self._crawler.stats.inc_value(names.SCOPE_SESSIONS)
        return request.replace(url=url)

    def _refused(self, response: Response, scope: Scope) -> frozenset[str]:
        """What the site asks not to do with the page, as far as *scope* obeys it."""
        values = [value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag")]
        if scope.noindex and isinstance(response, TextResponse):
            values.append(metas(Document(response.text, response.url)).get("robots", ""))
        if not values:
            return NOTHING
        found = asked(values, self._crawler.settings["ROBOTSTXT_USER_AGENT"] or "")
        return found & {name for name, obeyed in ((NOFOLLOW, scope.nofollow), (NOINDEX, scope.noindex)) if obeyed}

    def _is_offsite(self, request: Request) -> bool:
        spider = self._crawler.spider
        if not getattr(spider, "allowed_domains", None) or self._offsite is None or request.meta.get("allow_offsite"):
            return False
        assert spider is not None
        return not self._offsite.should_follow(request, spider)

    def _count(self, rule: str, url: str, held: HeldLease) -> None:
        self._worker.cuts.count(rule, url, held.lease.generation)

    @cached_property
    def _scopes(self) -> Scopes:
        return self._worker.queue.encoder.scopes

    @cached_property
    def _offsite(self) -> OffsiteMiddleware | None:
        return self._crawler.get_downloader_middleware(OffsiteMiddleware)

    @cached_property
    def _most_deep(self) -> int:
        depth = self._crawler.get_spider_middleware(DepthMiddleware)
        return depth.maxdepth if depth is not None else 0


def _depth(response: Response) -> int:
    depth = response.meta.get("depth", 0)
    return depth if isinstance(depth, int) else 0
