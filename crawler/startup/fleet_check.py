"""Finds what a spider uses that cannot work in a fleet, by name and line, without a request.

Reads its source, including base classes outside Scrapy, and tries the first requests of its `start()`. Known weakness:
only literal values are seen; computed ones are reported when they are queued, by name as well.
"""

from __future__ import annotations

import ast
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from itertools import chain, starmap
from types import FunctionType
from typing import Any, Final, NamedTuple

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import FormRequest, JsonRequest
from scrapy.settings import BaseSettings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object
from scrapy_redis.spiders import RedisMixin

from crawler.components import TABLES, path_of
from crawler.errors import CodecError, MessageError, ShoalError
from crawler.policy.rules.domains import load_rules
from crawler.routing import codec
from crawler.routing.old_start import start
from crawler.startup import outdated, stored_values
from crawler.startup.spider_source import functions, is_library
from crawler.urls import check

STARTED: Final = 100  # start requests that are tried
CALLBACKS: Final = ("callback", "errback")
OWN_COOKIES: Final = (
    'needs cookies that other workers do not have: `cookies = "{}"` for the domain in DOMAINS_FILE shares them '
    "(docs/spiders.md), or crawl with one worker"
)
OWN_FILE: Final = (
    "opens {} to write, as each worker does, over what the others wrote: give it a name of the worker's own, or use a "
    "feed with %(worker)s in its URI"
)
OPENERS: Final = ("open", "codecs.open", "io.open", "Path.open")
SEEDLESS: Final = ("next_requests", "fetch_data", "spider_idle", "schedule_next_requests")
ONE_PROCESS: Final[Mapping[str, str]] = {
    "scrapy_deltafetch.DeltaFetch": "remembers pages on this machine only; a crawl generation does that",
    "scrapy_deltafetch.middleware.DeltaFetch": "remembers pages on this machine only; a crawl generation does that",
    "scrapy_magicfields.MagicFieldsMiddleware": "counts in one process",
    "rotating_proxies.middlewares.RotatingProxyMiddleware": "learns in one process: pools are shared (docs/proxies.md)",
    "rotating_proxies.middlewares.BanDetectionMiddleware": "learns in one process: tiers and blocks are shared",
    "scrapy_splash.SplashDeduplicateArgsMiddleware": "keeps arguments of queued requests in one process",
    "scrapy_selenium.SeleniumMiddleware": "bypasses the guard and the fleet's pace: use the browser tier",
}


class Finding(NamedTuple):
    """One thing that cannot work, and where."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def findings(crawler: Crawler) -> list[Finding]:
    """Findings without building the spider, each once: components may share a base class."""
    found = chain(
        _source(crawler.spidercls),
        _sessions(crawler),
        _components(crawler),
        _files(crawler),
        _overrides(crawler.spidercls),
        _outdated(crawler),
    )
    return [*dict.fromkeys(found)]


def make_findings(crawler: Crawler, arguments: Mapping[str, str]) -> list[Finding]:
    """Makes the spider of *crawler*; a finding where it raises."""
    try:
        crawler.spider = crawler.spidercls.from_crawler(crawler, **arguments)
    except ShoalError:
        raise
    except Exception as error:  # noqa: BLE001 - the spider's own
        return [Finding(f"making {crawler.spidercls.name}", f"{_raised(error)} (what it needs comes with -a)")]
    return []


async def start_findings(spider: Spider) -> list[Finding]:
    """Findings in its first start requests, which are not sent."""
    where = f"start() of {spider.name}"
    try:
        made = [request async for request in _first(start(spider)) if isinstance(request, Request)]
    except Exception as error:  # noqa: BLE001 - the spider's own
        return [Finding(where, _raised(error))]
    return [Finding(where, what) for request in made if (what := _unfit(request, spider))]


def _raised(error: Exception) -> str:
    return f"raises {type(error).__name__}: {error}"


async def _first(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    left = STARTED
    async for request in requests:
        yield request
        left -= 1
        if not left:
            return


def _unfit(request: Request, spider: Spider) -> str:
    try:
        check(request.url)
        codec.encode(request, spider)
    except (CodecError, MessageError) as error:
        return str(error)
    return ""


def _source(spider: type[Spider]) -> Iterator[Finding]:
    for one in functions(spider):
        for line, what in _function(one.node, one.names):
            yield Finding(one.place(line), what)


def _sessions(crawler: Crawler) -> Iterator[Finding]:
    """The first line that builds on cookies, where each worker has its own: another one is not logged in."""
    rules = load_rules(crawler.settings["DOMAINS_FILE"])
    shared = {rule.cookies for rule in (rules.default, *rules.by_host.values())}
    if not crawler.settings.getbool("COOKIES_ENABLED") or "session" in shared:
        return
    jars = [
        (jar, one.place(node.lineno))  # type: ignore[attr-defined]
        for one in functions(crawler.spidercls)
        for node in ast.walk(one.node)
        if (jar := _jar(node))
    ]
    needed, where = next((each for each in jars if each[0] == "session"), jars[0] if jars else ("", ""))
    if needed and needed not in shared:
        yield Finding(where, OWN_COOKIES.format(needed))


def _jar(node: ast.AST) -> str:
    """What `cookies` has to be for *node*: "host" for a form that logs in, "session" for one jar of several."""
    if isinstance(node, ast.expr) and getattr(node, "value", None) == "cookiejar":
        return "session"
    return "host" if isinstance(node, ast.Call) and _method(node) == "from_response" else ""


def _function(function: ast.FunctionDef | ast.AsyncFunctionDef, names: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    unfindable = _unfindable(function, names)
    objects = stored_values.objects(function, names)
    yield from stored_values.put_later(function, names, objects)
    dicts = stored_values.dicts(function)
    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
        kind = stored_values.named(call.func, names)
        if _is_class(kind, Request) and kind not in {Request, FormRequest, JsonRequest}:
            yield call.lineno, f"{kind.__name__} cannot be queued: use Request, FormRequest or JsonRequest"
        follows = _is_class(kind, Request) or _method(call) in {"follow", "follow_all"}
        if not follows and _method(call) not in {"from_response", "replace"}:
            continue
        positional = [("callback", call.args[1])] if follows and len(call.args) > 1 else []
        keywords = [(word.arg or "", word.value) for word in call.keywords]
        for name, value in chain(positional, keywords):
            if name in CALLBACKS and (what := _no_method(value, unfindable)):
                yield value.lineno, f"{name} is {what}, which other workers cannot find: make it a method of the spider"
            elif name in stored_values.STORED:
                given = dicts.get(value.id, value) if isinstance(value, ast.Name) else value
                yield from ((value.lineno, what) for what in stored_values.values(name, given, names, objects))


def _unfindable(function: ast.FunctionDef | ast.AsyncFunctionDef, names: Mapping[str, Any]) -> dict[str, str]:
    """Names that stand for functions which are no methods of the spider, and what these are."""
    found = {name: f"the function {name} of a module" for name, one in names.items() if isinstance(one, FunctionType)}
    for node in ast.walk(function):
        if isinstance(node, ast.FunctionDef) and node is not function:
            found[node.name] = f"the inner function {node.name}"
        elif isinstance(node, ast.arg):
            found.pop(node.arg, None)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.pop(node.id, None)
    assigned: dict[str, list[str]] = {}
    for node in (each for each in ast.walk(function) if isinstance(each, ast.Assign)):
        for target in (each for each in node.targets if isinstance(each, ast.Name)):
            assigned.setdefault(target.id, []).append(_no_method(node.value, found))
    return found | {name: whats[0] if all(whats) else "" for name, whats in assigned.items()}


def _no_method(value: ast.expr, unfindable: Mapping[str, str]) -> str:
    if isinstance(value, ast.Lambda):
        return "a lambda"
    if isinstance(value, ast.Name):
        return unfindable.get(value.id, "")
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Attribute):
        return f"a method of {ast.unparse(value.value)}"
    partial = isinstance(value, ast.Call) and _method(value) == "partial"
    return "a partial" if partial else ""


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_class(kind: Any, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


def _components(crawler: Crawler) -> Iterator[Finding]:
    for one, table in _listed(crawler.settings):
        if reason := ONE_PROCESS.get(path_of(one)):
            yield Finding(f"{table}[{path_of(one)!r}]", reason)


def _listed(settings: BaseSettings) -> Iterator[tuple[Any, str]]:
    """The components in use, each with the setting that lists it."""
    for table in TABLES:
        yield from ((one, table) for one in build_component_list(settings.getwithbase(table)))


def _files(crawler: Crawler) -> Iterator[Finding]:
    """Files that pipelines of the project open to write, under a name that is the same for all workers."""
    pipelines = map(_loaded, build_component_list(crawler.settings.getwithbase("ITEM_PIPELINES")))
    for function in chain.from_iterable(functions(kind) for kind in pipelines if isinstance(kind, type)):
        for call in (node for node in ast.walk(function.node) if isinstance(node, ast.Call)):
            if name := _file(call):
                yield Finding(function.place(call.lineno), OWN_FILE.format(name))


def _file(call: ast.Call) -> str:
    """The file that *call* opens to write, if it says so; whatever it was is lost."""
    opener, arguments = ast.unparse(call.func), call.args
    path = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(path, ast.Call) and _method(path) == "Path" and all(map(_is_fixed, path.args)):
        opener, arguments = f"Path.{_method(call)}", [*path.args[:1], *arguments]
    modes = [*arguments[1:2], *(word.value for word in call.keywords if word.arg == "mode")]
    writes = any(isinstance(mode, ast.Constant) and str(mode.value)[:1] in {"w", "x"} for mode in modes)
    named = opener in OPENERS and arguments and _is_fixed(arguments[0])
    return ast.unparse(arguments[0]) if named and writes else ""


def _is_fixed(name: ast.AST) -> bool:
    """Whether *name* is made of literals and the spider's name, and so the same in all workers."""
    if isinstance(name, ast.Attribute):
        return name.attr == "name" and ast.unparse(name.value).endswith("spider")
    if isinstance(name, (ast.BinOp, ast.JoinedStr, ast.FormattedValue, ast.Tuple)):
        return all(map(_is_fixed, ast.iter_child_nodes(name)))
    return isinstance(name, (ast.Constant, ast.operator, ast.expr_context))


def _overrides(spider: type[Spider]) -> Iterator[Finding]:
    if not issubclass(spider, RedisMixin):
        return
    for name in SEEDLESS if _own(spider, "start") else (*SEEDLESS, "start_requests"):
        if where := _own(spider, name):
            yield Finding(where, "is not called: start URLs are leased, and make_request_from_data is asked for each")


def _outdated(crawler: Crawler) -> Iterator[Finding]:
    """What another release of Scrapy called, or took."""
    settings = crawler.settings
    for one in build_component_list(settings.getwithbase("SPIDER_MIDDLEWARES")):
        yield from starmap(Finding, outdated.passed_over(_loaded(one)))
    for kind in (crawler.spidercls, *(_loaded(one) for one, _ in _listed(settings))):
        if isinstance(kind, type):
            yield from starmap(Finding, outdated.misfits(kind))


def _loaded(component: Any) -> Any:
    """The class; None for one that cannot be loaded, which is refused later, by name."""
    with suppress(Exception):
        return load_object(component)
    return None


def _own(spider: type[Spider], name: str) -> str:
    """Where *spider* gets that method from; empty if from Scrapy or us, or from nowhere."""
    owner = next(one for one in spider.__mro__ if name in vars(one) or one is object)
    return "" if is_library(owner) else f"{owner.__module__}.{owner.__qualname__}.{name}"
