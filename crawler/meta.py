"""Every key of `request.meta` that Shoal reads or writes, in one table.

A key that is not *stored* ends with the attempt: queue, retries and dead letters do not have it. A key that is not
*external* steers the crawler: `scrapy push` refuses it, and it is removed from entries of a start-URLs key. Keys
outside the table belong to the spider: they are stored, and anyone may set them.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from scrapy import Request


class Key(NamedTuple):
    """One key: who sets it and why, whether it is stored, whether a push or an LPUSH may set it."""

    name: str
    meaning: str
    stored: bool = True
    external: bool = False


# What a request can ask for.
NOT_BEFORE: Final = "not_before"
MIN_TIER: Final = "min_tier"
PLAYWRIGHT: Final = "playwright"
PROXY_POOL: Final = "proxy_pool"
COUNTRY: Final = "country"
SESSION: Final = "session"
API_PROVIDER: Final = "api_provider"
ALLOW_BLOCKED: Final = "allow_blocked"
SITEMAP: Final = "shoal_sitemap"
ANY_SCOPE: Final = "any_scope"
# What the crawler notes on it, for one attempt or from its first failure to its response.
REQUEST_ID: Final = "request_id"
RUN_ID: Final = "run_id"
TRACEPARENT: Final = "traceparent"
PARENT_ID: Final = "shoal_parent_id"
TIER: Final = "tier"
TIER_STAYS: Final = "tier_stays"
BLOCK: Final = "block"
RETRY_WAIT_MS: Final = "retry_wait_ms"
UNFINISHED_TIMES: Final = "unfinished_times"
COMPLAINED: Final = "complained"
LED_HERE: Final = "led_here"
TIER_FAILED: Final = "tier_failed"
CONDITIONAL: Final = "conditional"
CONDITIONAL_WHOLE: Final = "conditional_whole"
HEADER_PROFILE: Final = "header_profile"
CUT_AT: Final = "download_cut_at"
API_JOB: Final = "api_job"
API_FAULTS: Final = "api_faults"
API_ALONE: Final = "api_alone"
WIRE_TURN: Final = "wire_turn"
POOL_PROXY: Final = "_pool_proxy"
POOL_NAME: Final = "_pool_name"
POOL_LAST: Final = "_pool_last"
PROXY_RETRIES: Final = "proxy_retries"
PROXY_TRIED: Final = "proxy_tried"
PROXY_DOUBTED: Final = "proxy_doubted"
HTTP_AUTH: Final = "http_auth"
CREDENTIALS: Final = ("http_user", "http_pass", "http_auth_domain")  # Scrapy's

TABLE: Final = (
    Key(NOT_BEFORE, "spider: Unix seconds before which it is not leased (a push has a key of its own for it)"),
    Key(MIN_TIER, "spider: the least tier that the page needs (in a push: `tier`)"),
    Key(PLAYWRIGHT, "spider, in scrapy-playwright's way: the page needs a browser", external=True),
    Key(PROXY_POOL, "spider: the pool of proxies", external=True),
    Key(COUNTRY, "spider: where its proxy should be", external=True),
    Key(SESSION, "spider: which of a domain's cookie jars and proxies it uses", external=True),
    Key(API_PROVIDER, "spider: which scraping API is asked", external=True),
    Key(ALLOW_BLOCKED, "spider: it takes what comes, block pages and empty shells too", external=True),
    Key(ANY_SCOPE, "spider: it is followed whatever the scope says"),
    Key(TRACEPARENT, "spider or push: the trace that it belongs to, in W3C's form (docs/traces.md)", external=True),
    Key(SITEMAP, "push: it is a sitemap, and how its pages are chosen (see routing/sitemap_requests.py)"),
    Key(REQUEST_ID, "scheduler: the lease's id, in log lines and on items", stored=False),
    Key(RUN_ID, "scheduler: the run that it is part of, in log lines", stored=False),
    Key(
        PARENT_ID,
        "scheduler: whose callback made it, in log lines; the codec stores it apart",
        stored=False,
    ),
    Key(TIER, "scheduler: the tier that it was leased for", stored=False),
    Key(TIER_STAYS, "tiers middleware: why a page that failed is not tried in a higher tier", stored=False),
    Key(BLOCK, "blocks and tiers middlewares: whose denial the answer is, or what else makes it no page", stored=False),
    Key(RETRY_WAIT_MS, "retry middleware: how long the retry waits in the frontier", stored=False),
    Key(UNFINISHED_TIMES, "request tracker: how often it ended without having succeeded"),
    Key(COMPLAINED, "pacer: its host has complained of it, which counts once"),
    Key(LED_HERE, "scheduler: 'link' or 'redirect' where another site led to its host: whose faults count"),
    Key(TIER_FAILED, "tiers middleware: the tier at which it failed, which counts once"),
    Key(CONDITIONAL, "conditional middleware: the conditions in the headers are ours"),
    Key(CONDITIONAL_WHOLE, "conditional middleware: ask for the page whole"),
    Key(HEADER_PROFILE, "headers middleware: its header profile, kept by retries and redirects"),
    Key(CUT_AT, "robots fetcher: bytes after which the HTTP handler takes the rest of a body for read"),
    Key(API_JOB, "api handler: provider, job id and start (Unix seconds) of a job under way"),
    Key(API_ALONE, "api handler: in no batch with others, of which one was refused"),
    Key(API_FAULTS, "api handler: how often its own calls failed, and when last (Unix seconds)"),
    Key(WIRE_TURN, "downloader: what a handler calls right before and after it writes"),
    Key(
        POOL_PROXY,
        "proxy middleware: the pool's proxy; where `proxy` is another one, the user has set that",
        stored=False,
    ),
    Key(POOL_NAME, "proxy middleware: the pool, for the attempts log", stored=False),
    Key(POOL_LAST, "proxy middleware: no fresh proxy will be tried after this attempt", stored=False),
    Key(PROXY_RETRIES, "proxy middleware: fresh proxies tried"),
    Key(PROXY_TRIED, "proxy middleware: names of those that failed"),
    Key(PROXY_DOUBTED, "proxy middleware: of these, where the host may have been at fault"),
    Key("_auth_proxy", "Scrapy: the proxy that the credentials in the headers are for", stored=False),
    Key(HTTP_AUTH, "HTTP auth middleware: the credentials below are this attempt's", stored=False),
    *(Key(name, "Scrapy: credentials for the site", stored=False) for name in CREDENTIALS),
    Key("_scheme_proxy", "Scrapy: the request is sent to the proxy itself", stored=False),
    Key("download_slot", "spider: a politeness group of its own", stored=False),
    Key("download_latency", "handlers: seconds to the first byte", stored=False),
    *(
        Key(name, "Scrapy's, see its documentation")
        for name in (
            *("bindaddress", "cookiejar", "depth", "dont_merge_cookies", "dont_obey_robotstxt", "is_start_request"),
            *("download_fail_on_dataloss", "download_maxsize", "download_timeout", "download_warnsize", "proxy"),
            *("max_retry_times", "retry_times", "redirect_reasons", "redirect_times", "redirect_ttl", "redirect_urls"),
        )
    ),
)

UNSTORED: Final = frozenset(key.name for key in TABLE if not key.stored)
RESERVED: Final = frozenset(key.name for key in TABLE if not key.external)


def count(request: Request, key: str) -> int:
    """The number that the request's meta has under *key*; 0 for anything else: a spider may use the key otherwise."""
    value = request.meta.get(key, 0)
    return value if isinstance(value, int) else 0


def pooled(request: Request) -> bool:
    """Whether *request* uses a proxy from a pool."""
    return request.meta.get("proxy") is not None and request.meta["proxy"] == request.meta.get(POOL_PROXY)
