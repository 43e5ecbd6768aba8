"""What a crawl may fetch: which links it follows, and how many pages per host and run.

The same keys are allowed in the setting SCOPE, a spider's `crawl_scope`, a domain's table `scope` and a run; the most
specific one with a key decides. Links are checked where they become requests, pushed URLs where they are pushed, by
`ScopeRules` only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from crawler import urls
from crawler.errors import ConfigError
from crawler.policy.rules import scope_values
from crawler.policy.rules.domains import DomainRules, Rules
from crawler.policy.rules.patterns import Pattern
from crawler.policy.rules.traps import SESSION, harmless, trap, without_session
from crawler.policy.toml_values import BadValueError, Reader
from crawler.utils.caches import LONGEST, Memo

REMEMBERED: Final = 16_384  # links


@dataclass(frozen=True, slots=True)
class Scope:
    """The limits of one domain; 0, "any" and empty mean no limit."""

    within: Literal["any", "domain", "host"] = "any"  # of the linking page
    paths: tuple[str, ...] = ()  # the path has to start with one of these
    include: tuple[Pattern, ...] = ()  # one of these has to match the URL
    exclude: tuple[Pattern, ...] = ()  # none of these may match it; also for pushed URLs
    depth: int = 0  # links from a pushed page
    query_parameters: int = 0  # of one URL
    traps: tuple[str, ...] = ()
    pages: int = 0  # per run
    pages_per_host: int = 0  # per run
    nofollow: bool = False  # X-Robots-Tag: nofollow is obeyed
    noindex: bool = False  # as is noindex, there and in the page: its items are not stored


class Judged(NamedTuple):
    """A link: its URL, and the rule that cuts it; "" for none."""

    url: str
    rule: str


class ScopeRules:
    """Judges links and pushed URLs; caches the verdict on links, as sites repeat theirs on every page."""

    def __init__(
        self,
        common: Mapping[str, Any],
        domains: Rules,
        today: Callable[[], date] | None = None,
        own: Mapping[str, Any] | None = None,
        shared: Memo[Judged] | None = None,
    ) -> None:
        """*common*: from settings and spider, as returned by `read_scope`; *own*: the run's. The rules of all runs
        remember links in one memory, *shared*, as there may be any number of runs."""
        self._common = dict(common)
        self._own = dict(own or {})
        self._domains = domains
        self._today = today or _today
        self._scopes: dict[int, Scope] = {}  # by the domain's rules, which live as long as this object
        self._links = Memo(self.judge_alone, REMEMBERED, LONGEST)
        self._shared = shared
        scopes = [self._of_site(site) for site in (domains.default, *domains.by_host.values())]
        self._limited = any(scope.pages or scope.pages_per_host for scope in scopes)
        self.excludes = any(scope.exclude for scope in scopes)  # whether `pushed` refuses anything
        excluding = any(site.exclude for site in (domains.default, *domains.by_host.values()))
        self.cuts_nothing = not excluding and all(scope == Scope() for scope in scopes)  # cuts no link of any domain

    def of(self, url: str) -> Scope:
        """The scope of *url*'s domain."""
        site = self._domains.for_url(url)
        known = self._scopes.get(id(site))
        return known if known is not None else self._make(site)

    def link(self, url: str, page: str, depth: int, scope: Scope | None = None) -> Judged:
        """Judges a link on *page*, whose scope may be passed, at the given depth from a pushed page."""
        judged = self._links[url] if self._shared is None else self._shared[url, self]
        return judged if judged.rule else _placed(judged, page, depth, scope or self.of(page))

    def named(self, url: str, sitemap: str, scope: Scope) -> Judged:
        """Judges a page that a sitemap names, with the sitemap's scope: each comes once, so that nothing is cached."""
        judged = self.judge_alone(url)
        return judged if judged.rule else _placed(judged, sitemap, 0, scope)

    def trapped_alone(self, page: str) -> str:
        """The origin of *page*, up to the first slash of its paths, if a URL that begins so and is `harmless` is in
        scope, wherever it is named; "" if it has to be judged."""
        try:
            site, origin = self._domains.for_url(page), "/".join(page.split("/", 3)[:3])
            return "" if _names_any(site, self.of(page)) or not harmless(origin) else f"{origin}/"
        except ValueError:
            return ""

    def pushed(self, url: str) -> str:
        """The rule that refuses a pushed URL: only `exclude` applies, other rules are about links."""
        if not self.excludes:
            return ""
        try:
            scope = self.of(url)
        except ValueError:
            return ""  # not a URL, which is reported elsewhere
        return "exclude" if scope.exclude and _any(scope.exclude, url) else ""

    def pages(self, url: str) -> tuple[int, int]:
        """How many pages per run, and of *url*'s host in it, may be fetched; 0: any number."""
        if not self._limited:
            return 0, 0
        scope = self.of(url)
        return scope.pages, scope.pages_per_host

    def _make(self, site: DomainRules) -> Scope:
        made = self._scopes[id(site)] = self._of_site(site)
        return made

    def _of_site(self, site: DomainRules) -> Scope:
        values = {**self._common, **site.scope, **self._own}
        return Scope(**values | {"nofollow": bool(values.get("nofollow")) and site.obey_nofollow})

    def judge_alone(self, url: str) -> Judged:
        """The verdict that depends on the URL alone."""
        try:
            site = self._domains.for_url(url)
            scope = self._scopes.get(id(site)) or self._make(site)
            traps = scope.traps
            if harmless(url):
                traps = ()
            else:
                url = without_session(url) if SESSION in traps else url
                urlsplit(url)
        except ValueError:
            return Judged(url, "")
        return Judged(url, _cut(url, site, scope) or (trap(url, traps, self._today()) if traps else ""))


def shared_links() -> Memo[Judged]:
    """The memory of the rules of several runs."""
    return Memo(lambda asked: asked[1].judge_alone(asked[0]), REMEMBERED, LONGEST)


def read_scope(raw: Any, where: str, read: Reader = scope_values.of_spider) -> dict[str, Any]:
    """The checked values of a scope; raises ConfigError naming *where*, key and value."""
    try:
        return dict(read(raw))
    except BadValueError as error:
        key = "".join(f"[{part!r}]" for part in error.path)
        raise ConfigError(f"{where}{key}", error.value, error.expected) from None


def _today() -> date:
    return datetime.now(UTC).date()


def _placed(judged: Judged, page: str, depth: int, scope: Scope) -> Judged:
    """What the rules make of a link that depend on the page it is on."""
    if scope.within != "any" and _leaves(judged.url, page, scope.within):
        return Judged(judged.url, "within")
    if scope.depth and depth > scope.depth:
        return Judged(judged.url, "depth")
    return judged


def _names_any(site: DomainRules, scope: Scope) -> bool:
    """Whether `_cut` may cut anything."""
    return bool(scope.exclude or site.exclude or scope.paths or scope.include or scope.query_parameters)


def _cut(url: str, site: DomainRules, scope: Scope) -> str:
    """The rule, of those that name what is wanted, that cuts *url*; "" for none."""
    if _any(scope.exclude, url) or _any(site.exclude, url):
        return "exclude"
    if scope.paths and not _below(urlsplit(url).path, scope.paths):
        return "paths"
    if scope.include and not any(pattern.search(url) for pattern in scope.include):
        return "include"
    if scope.query_parameters and _parameters(urlsplit(url).query) > scope.query_parameters:
        return "query_parameters"
    return ""


def _any(patterns: tuple[Pattern, ...], url: str) -> bool:
    """Whether one matches *url*, as written or as a server reads it."""
    if not patterns:
        return False
    forms = {url, _plain(url)} if "%" in url or "/." in url else {url}
    return any(pattern.search(form) for pattern in patterns for form in forms)


def _plain(url: str) -> str:
    head, mark, query = url.partition("?")
    scheme, slashes, rest = head.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{slashes}{host}{urls.without_dots(unquote(slash + path))}{mark}{unquote(query)}"


def _below(path: str, prefixes: tuple[str, ...]) -> bool:
    path = urls.without_dots(unquote(path)) or "/"
    return any(
        path == prefix or path.startswith(prefix if prefix.endswith("/") else prefix + "/") for prefix in prefixes
    )


def _parameters(query: str) -> int:
    return sum(1 for pair in query.replace(";", "&").split("&") if pair)


def _leaves(url: str, page: str, within: str) -> bool:
    """Whether a link leaves the host; `www.` does not count, and a non-web URL leads nowhere."""
    if url.split("/", 3)[:3] == page.split("/", 3)[:3] or url[:4].lower() != "http":
        return False
    try:
        if within == "domain":
            return not urls.same_site(url, page)
        return urls.group(url).removeprefix("www.") != urls.group(page).removeprefix("www.")
    except ValueError:
        return False
