"""What a crawl may fetch: which links it follows, and how many pages of a host and of a run.

The same keys stand in the setting SCOPE, in a spider's `scope`, in a domain's table `scope` and with a run; the nearest
one that has a key decides. Links are judged where they become requests, and pushed addresses where they are pushed, by
`ScopeRules` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from crawler import urls
from crawler.caches import LONGEST, Memo
from crawler.errors import ConfigError
from crawler.policy import scope_values
from crawler.policy.domain_values import BadValueError
from crawler.policy.domains import DomainRules, Rules
from crawler.policy.patterns import Pattern
from crawler.policy.traps import SESSION, trap, without_session

REMEMBERED: Final = 16_384  # links


@dataclass(frozen=True, slots=True)
class Scope:
    """The limits of one domain; 0, "any" and nothing at all are no limit."""

    within: Literal["any", "domain", "host"] = "any"  # of the page that links
    paths: tuple[str, ...] = ()  # one of which the path begins with
    include: tuple[Pattern, ...] = ()  # one of which is found in the address
    exclude: tuple[Pattern, ...] = ()  # none of which is found in it; of pushed addresses, too
    depth: int = 0  # links from a pushed page
    query_parameters: int = 0  # of one address
    traps: tuple[str, ...] = ()
    pages: int = 0  # of a run
    pages_per_host: int = 0  # of a run
    nofollow: bool = False  # X-Robots-Tag: nofollow is obeyed
    noindex: bool = False  # so is noindex, there and in the page: its items are not stored


class Judged(NamedTuple):
    """A link: where it leads, and the rule that cuts it; "" for none."""

    url: str
    rule: str


class ScopeRules:
    """Judges links and pushed addresses; remembers what it said of a link, since sites repeat theirs on every page."""

    def __init__(
        self,
        common: Mapping[str, Any],
        domains: Rules,
        today: Callable[[], date] | None = None,
        own: Mapping[str, Any] | None = None,
    ) -> None:
        """*common*: what settings and spider say, as `read_scope` gives it; *own*: what the run says."""
        self._common = dict(common)
        self._own = dict(own or {})
        self._domains = domains
        self._today = today or _today
        self._scopes: dict[int, Scope] = {}  # by the domain's rules, which live as long as this does
        self._links = Memo(self._judge, REMEMBERED, LONGEST)
        scopes = [self._of_site(site) for site in (domains.default, *domains.by_host.values())]
        self._limited = any(scope.pages or scope.pages_per_host for scope in scopes)
        excluding = any(site.exclude for site in (domains.default, *domains.by_host.values()))
        self.cuts_nothing = not excluding and all(scope == Scope() for scope in scopes)  # no link of any domain

    def of(self, url: str) -> Scope:
        """The scope of *url*'s domain."""
        site = self._domains.for_url(url)
        known = self._scopes.get(id(site))
        return known if known is not None else self._make(site)

    def link(self, url: str, page: str, depth: int, scope: Scope | None = None) -> Judged:
        """Whether a link on *page*, whose scope may be given, is followed, that many links from a pushed page."""
        judged = self._links[url]
        if judged.rule:
            return judged
        scope = scope or self.of(page)
        if scope.within != "any" and _leaves(judged.url, page, scope.within):
            return Judged(judged.url, "within")
        if scope.depth and depth > scope.depth:
            return Judged(judged.url, "depth")
        return judged

    def pushed(self, url: str) -> str:
        """The rule that refuses an address which somebody names: only `exclude`, all others are about links."""
        try:
            scope = self.of(url)
        except ValueError:
            return ""  # not an address, which is said elsewhere
        return "exclude" if scope.exclude and _any(scope.exclude, url) else ""

    def pages(self, url: str) -> tuple[int, int]:
        """How many pages of a run, and of *url*'s host in it, may be fetched; 0: any number."""
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

    def _judge(self, url: str) -> Judged:
        """What an address says by itself."""
        try:
            site, scope = self._domains.for_url(url), self.of(url)
            if SESSION in scope.traps:
                url = without_session(url)
            parts = urlsplit(url)
        except ValueError:
            return Judged(url, "")
        if _any(scope.exclude, url) or _any(site.exclude, url):
            return Judged(url, "exclude")
        if scope.paths and not _below(parts.path, scope.paths):
            return Judged(url, "paths")
        if scope.include and not any(pattern.search(url) for pattern in scope.include):
            return Judged(url, "include")
        if scope.query_parameters and _parameters(parts.query) > scope.query_parameters:
            return Judged(url, "query_parameters")
        return Judged(url, trap(url, scope.traps, self._today()) if scope.traps else "")


def read_scope(raw: Any, where: str) -> dict[str, Any]:
    """The checked values of a scope; raises ConfigError that names *where*, key and value."""
    try:
        return dict(scope_values.of_run(raw))
    except BadValueError as error:
        key = "".join(f"[{part!r}]" for part in error.path)
        raise ConfigError(f"{where}{key}", error.value, error.expected) from None


def _today() -> date:
    return datetime.now(UTC).date()


def _any(patterns: tuple[Pattern, ...], url: str) -> bool:
    """Whether one is found in *url*, as it is written or as a server reads it."""
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
    """`www.` makes no other host; what is no web address leads nowhere."""
    if url.split("/", 3)[:3] == page.split("/", 3)[:3] or url[:4].lower() != "http":
        return False
    try:
        if within == "domain":
            return not urls.same_site(url, page)
        return urls.group(url).removeprefix("www.") != urls.group(page).removeprefix("www.")
    except ValueError:
        return False
