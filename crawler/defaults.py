"""Every tunable: default, unit, range and reader. docs/settings.md is generated from this file: `make docs`.

Behind the name of a number stand its kind, the lowest and the highest value, which `crawler/config.py` enforces: that
of `Annotated[float, 0.1, 60]` may have a fraction, that of `Annotated[int, 1, 60]` may not.

The add-on sets these at a lower priority than the project's settings. For settings that Scrapy has too, these defaults
apply under `scrapy crawl` only. This deployment's changes are in settings/base.py. Sections follow a request's path;
names end in their unit. An invalid value stops the start with one line that says what is expected.
"""

from typing import Annotated

# --- Servers ------------------------------------------------------------------------------------------------
# Redis or Valkey that holds the frontier, as redis://, rediss:// or unix://, or redis+sentinel://host,host/service.
# Empty: start (or join) the bundled server of this machine. Reader: frontier/server/connection.py
REDIS_URL = ""
# True: REDIS_URL names nodes of a Redis or Valkey Cluster (redis://host,host); one has to answer at a start.
# Reader: frontier/server/connection.py
REDIS_CLUSTER = False
# MongoDB that stores items. Empty: start (or join) the bundled server of this machine. Reader: storage/connection.py
MONGODB_URI = ""
# Database of items, attempts and the archive's index. Reader: storage/connection.py
MONGODB_DATABASE = "shoal"
# Data directory of the bundled servers. Relative paths in this file are below the project's `.scrapy`; a path that a
# project sets is used as it is. Reader: embedded/
EMBEDDED_DATA_DIR = "services"

# --- Frontier -----------------------------------------------------------------------------------------------
# Prefix of every Redis key, without braces: two fleets on one server need two. Reader: frontier/config.py
FRONTIER_KEY = "shoal"
# Number of shards, which spread the load over the nodes of a Cluster. Fixed while there is data; all workers share it.
# Reader: frontier/config.py
FRONTIER_SHARDS: Annotated[int, 1, 1_024] = 1
# False: start URLs are pushed with LPUSH to a list. True: with SADD to a set. scrapy-redis' name. Reader:
# frontier/state/seeds.py
REDIS_START_URLS_AS_SET = False
# True: start URLs are pushed with ZADD to a sorted set. scrapy-redis' name. Reader: frontier/state/seeds.py
REDIS_START_URLS_AS_ZSET = False
# Must be True: with False scrapy-redis deletes the queue when a worker closes. Reader: worker/scheduler.py
SCHEDULER_PERSIST = True
# Identifies a page: this one ignores tracking parameters. Readers: Scrapy, commands/encoding.py
REQUEST_FINGERPRINTER_CLASS = "crawler.routing.fingerprint.RequestFingerprinter"
# What a generation remembers of the URLs it has seen: "compact", "exact", "window" or "bloom". Fixed when the
# generation opens. Reader: frontier/config.py
FRONTIER_DEDUPE = "compact"
# With FRONTIER_DEDUPE = "window": seconds after which a finished URL may be crawled again. Reader: frontier/config.py
FRONTIER_WINDOW_SECONDS: Annotated[int, 1, 1_000_000_000] = 86_400
# With FRONTIER_DEDUPE = "bloom": URLs per generation up to which the error rate holds. Reader: frontier/config.py
FRONTIER_BLOOM_CAPACITY: Annotated[int, 1_000, 100_000_000_000] = 10_000_000
# With FRONTIER_DEDUPE = "bloom": share of new URLs that are taken for known and never crawled. Reader:
# frontier/config.py
FRONTIER_BLOOM_ERROR_RATE: Annotated[float, 1e-9, 0.1] = 1e-5
# Queued and delayed requests beyond which new pushes are refused. Reader: frontier/config.py
FRONTIER_QUEUE_LIMIT: Annotated[int, 1, 1_000_000_000_000] = 50_000_000
# Queued and delayed requests beyond which no start URLs are read, at most FRONTIER_QUEUE_LIMIT. Reader:
# frontier/config.py
FRONTIER_QUEUE_HIGH_WATER: Annotated[int, 1, 1_000_000_000_000] = 40_000_000
# Share of Redis' maxmemory beyond which pushes are refused and workers lease one request at a time. Reader:
# frontier/config.py
FRONTIER_MEMORY_LIMIT: Annotated[float, 0.1, 1] = 0.9
# Share of Redis' maxmemory beyond which no start URLs are read, at most FRONTIER_MEMORY_LIMIT. Reader:
# frontier/config.py
FRONTIER_MEMORY_HIGH_WATER: Annotated[float, 0.1, 1] = 0.8
# Seconds of waiting that one step of priority is worth. Reader: frontier/config.py
FRONTIER_PRIORITY_STEP_SECONDS: Annotated[float, 0, 86_400] = 60
# Seconds for which the fingerprints of a finished generation are kept. Reader: frontier/config.py
FRONTIER_RETENTION_SECONDS: Annotated[float, 60, 315_360_000] = 7 * 86_400
# Dead letters kept; beyond that the oldest are evicted. Reader: frontier/config.py
FRONTIER_DEAD_LIMIT: Annotated[int, 1, 1_000_000_000] = 100_000
# Pages that sites refuse for good (404, 410 ...) kept for `scrapy dead list --kind gone`; beyond that the oldest are
# evicted. Reader: frontier/config.py
FRONTIER_GONE_LIMIT: Annotated[int, 1, 1_000_000_000] = 10_000
# Runs kept for `scrapy runs`, some 500 bytes of Redis each; beyond that the oldest that are over are forgotten. Reader:
# frontier/config.py
RUNS_KEPT: Annotated[int, 10, 1_000_000] = 1_000
# Seconds without work after which a run of start URLs is sealed: the next URL begins another one. Reader:
# frontier/config.py
RUN_IDLE_SECONDS: Annotated[float, 1, 86_400] = 60
# Newest runs of which the stored documents are remembered, for `scrapy runs diff`, and as many of plain starts and
# start URLs; 0: none. Readers: storage/config.py, middlewares/conditional/downloader.py
RUN_ITEMS_KEPT: Annotated[int, 0, 10_000] = 30
# Where each start, end and failing of a run is posted as signed JSON; empty: nowhere (docs/hooks.md). Reader:
# extensions/run_hooks.py
RUN_WEBHOOK_URL = ""
# What webhooks are signed with (HMAC-SHA256); empty: they are not. Reader: extensions/run_hooks.py
RUN_WEBHOOK_SECRET = ""
# True: the same is sent as Scrapy signals (crawler/run_signals.py). Reader: extensions/run_hooks.py
RUN_SIGNALS = False
# How stats of a run's workers add up, by name (which may begin or end with *), besides what is known of Scrapy's and
# Shoal's: "sum", "max" or "last", "" to leave one out. Without a word counters are summed, of maxima the largest is
# kept, else the last value. Reader: worker/upkeep/run_stats.py
RUN_STATS: dict[str, str] = {}
# Share of a run's ended requests that are dead letters at which it counts as failing; 0: never. Reader:
# extensions/run_hooks.py
RUN_FAILURE_SHARE: Annotated[float, 0, 1] = 0

# --- Leases -------------------------------------------------------------------------------------------------
# Tiers this worker leases from: http, browser, api, or several separated by commas. Reader: worker/lease_queue.py
TIER = "http"
# Seconds after which the requests of a silent worker are queued again. Leases are renewed every quarter of it. Reader:
# frontier/config.py
FRONTIER_LEASE_SECONDS: Annotated[float, 1, 86_400] = 120
# Seconds from lease to wire start, at most FRONTIER_LEASE_SECONDS; later the request is given back uncharged, the next
# time it takes another turn. Reader: frontier/config.py
FRONTIER_START_WITHIN_SECONDS: Annotated[float, 0.1, 3_600] = 20
# Seconds from wire start to acknowledgement: a lease is not renewed any longer, which also bounds how long a callback
# may block or wait: one that waits longer is cancelled. Readers: frontier/config.py, extensions/metrics.py
FRONTIER_HARD_CAP_SECONDS: Annotated[float, 1, 86_400] = 900
# Wire starts without an end after which a request becomes a dead letter. Reader: frontier/config.py
FRONTIER_MAX_DELIVERIES: Annotated[int, 1, 100] = 5
# Longest wait before Redis is asked again for due requests, in seconds. Readers: worker/prefetch.py,
# worker/maintenance.py
FRONTIER_POLL_SECONDS: Annotated[float, 0.01, 60] = 0.5
# Seconds without an answer after which a host counts as slow. Slow hosts together hold at most half of a worker's
# slots. Reader: worker/prefetch.py
FRONTIER_SLOW_HOST_SECONDS: Annotated[float, 0.1, 3_600] = 10
# Seconds for which a closing worker tries to send Redis its remaining messages, and waits for a MongoDB that is away if
# there is no spool, and for room on a full disk. Readers: worker/worker.py, scrapy_hooks.py
FRONTIER_CLOSE_SECONDS: Annotated[float, 1, 3_600] = 20
# Seconds without work, for this worker and the whole frontier, after which a worker ends; 0 = never. scrapy-redis'
# name. Reader: extensions/idle.py
MAX_IDLE_TIME_BEFORE_CLOSE: Annotated[float, 0, 31_536_000] = 0

# --- Scope --------------------------------------------------------------------------------------------------
# What a crawl may fetch, as a dict or a JSON object with any of within, paths, include, exclude, depth,
# query_parameters, traps, pages, pages_per_host, nofollow, noindex: docs/scope.md. A spider's `crawl_scope`, a domain's
# table `scope` and a run go before it, key by key. Readers: routing/scoping.py, policy/rules/scope.py
SCOPE: dict[str, object] = {}
# What a spider may spend in a day, as a dict or a JSON object with any of requests, mb, browser_seconds, cost, hours
# ("22:00-06:00") and time_zone: docs/scope.md. A domain has its own in domains.toml. Reader: worker/upkeep/budgets.py
BUDGET: dict[str, object] = {}

# --- Tiers --------------------------------------------------------------------------------------------------
# Tiers that count as served although none of their workers is alive, separated by commas: for pools that are started
# when work is queued for them. Reader: worker/upkeep/tier_tracker.py
TIERS_SERVED = ""
# Pages of a host that must fail at its tier (block pages, empty app shells) before the whole host steps up. A page that
# failed steps up at once. Reader: policy/tiers.py
TIER_FAILURES: Annotated[int, 1, 500] = 3
# Share of a host's pages at its tier that must fail before the whole host steps up. Reader: policy/tiers.py
TIER_FAILURE_SHARE: Annotated[float, 0, 1] = 0.2
# Seconds for which a host that stepped up stays there, at most TIER_TERM_MAX_SECONDS. Doubled each time a trial of
# the tier below fails. Reader: policy/tiers.py
TIER_TERM_SECONDS: Annotated[float, 0.1, 2_592_000] = 6 * 3_600
# Longest such term in seconds. Reader: policy/tiers.py
TIER_TERM_MAX_SECONDS: Annotated[float, 0.1, 31_536_000] = 7 * 86_400
# Good pages at the tier below that move a host down again after its term. Reader: policy/tiers.py
TIER_TRIAL_PAGES: Annotated[int, 1, 1_000] = 3
# Most requests of `browser` and `api` per day (UTC) in the whole fleet, 0 to 1e15; a tier not named has no limit.
# Readers: worker/upkeep/tier_tracker.py, metrics/fleet_collector.py
TIER_DAILY_REQUESTS: dict[str, float] = {}
# Most cost of `browser` and `api` per day (UTC) in the whole fleet, 0 to 1e15, in the unit that the tier's fetcher
# reports (tokens of a scraping API); a tier not named has no limit. Readers: worker/upkeep/tier_tracker.py,
# metrics/fleet_collector.py
TIER_DAILY_COST: dict[str, float] = {}
# Seconds between two reads of what the fleet has learned about tiers. Fetches in between can exceed a daily budget.
# Reader: worker/maintenance.py
TIER_REFRESH_SECONDS: Annotated[float, 0.05, 300] = 5
# Download handler of each tier beyond http, used by workers whose TIER names it. Reader: handlers/tiers.py
TIER_HANDLERS = {
    "browser": "crawler.handlers.browser.BrowserDownloadHandler",
    "api": "crawler.handlers.api.ApiDownloadHandler",
}

# --- Politeness ---------------------------------------------------------------------------------------------
# What counts as one host: its "hostname", the registrable "domain" (shop.example.co.uk -> example.co.uk), or "ip": all
# hosts with the same address, but for those of CDNs (docs/politeness.md). Reader: routing/host_rules.py
POLITENESS_GROUP = "hostname"
# Seconds for which an address that a worker has looked up holds for the fleet with POLITENESS_GROUP = "ip". Reader:
# worker/worker.py
POLITENESS_ADDRESS_SECONDS: Annotated[float, 10, 86_400] = 900
# Further networks of CDNs, in which each host is paced by itself with POLITENESS_GROUP = "ip": a list, or separated by
# commas. Reader: policy/shared_addresses.py
POLITENESS_CDN_NETWORKS: list[str] = []
# Seconds between two requests to one host, over the whole fleet. Scrapy: 0, per process. Reader: routing/host_rules.py
DOWNLOAD_DELAY: Annotated[float, 0, 86_400] = 1
# Requests in flight to one host, over the whole fleet. Scrapy: 8, per process. Reader: routing/host_rules.py
CONCURRENT_REQUESTS_PER_DOMAIN: Annotated[int, 1, 1_000] = 1
# Requests that a host may get without a delay after it has been idle: a token bucket. No bursts where robots.txt sets a
# crawl delay or the host has pushed back. Reader: routing/host_rules.py
POLITENESS_BURST: Annotated[int, 1, 1_000] = 1
# Obey robots.txt. Scrapy: False. Readers: Scrapy, middlewares/downloader/robots.py
ROBOTSTXT_OBEY = True
# Seconds for which one fetch of a robots.txt serves the whole fleet; RFC 9309 allows a day. Readers:
# worker/robots_fetcher.py, frontier/config.py
ROBOTSTXT_TTL_SECONDS: Annotated[float, 1, 86_400] = 86_400
# Origins whose robots.txt each worker caches; the others are read from Redis again. Reader: worker/robots_fetcher.py
ROBOTSTXT_CACHE_SIZE: Annotated[int, 1, 1_000_000] = 20_000
# Memory for parsed robots.txt files in each worker, in MiB; one of 50 rules takes 20 KB. Reader:
# worker/robots_fetcher.py
ROBOTSTXT_CACHE_MB: Annotated[int, 1, 100_000] = 64
# Seconds within which a robots.txt must arrive. If it is later, or a 5xx, it is unreachable and its pages wait. Reader:
# worker/robots_fetcher.py
ROBOTSTXT_TIMEOUT_SECONDS: Annotated[float, 1, 600] = 20
# Seconds until an unreachable robots.txt is fetched again; later as long as it has been failing, at most an hour.
# Reader: worker/robots_fetcher.py
ROBOTSTXT_RETRY_SECONDS: Annotated[float, 0.1, 3_600] = 60
# Seconds after which the pages of an unreachable robots.txt become dead letters, `robots_unreachable`. Reader:
# worker/robots_fetcher.py
ROBOTSTXT_UNREACHABLE_SECONDS: Annotated[float, 1, 31_536_000] = 86_400
# Scrapy's AutoThrottle for the whole fleet: each host is crawled as fast as its latency allows, unless it pushes
# back. Scrapy: False. Reader: frontier/config.py
AUTOTHROTTLE_ENABLED = True
# Initial delay of a host in seconds. Scrapy: 5. Reader: frontier/config.py
AUTOTHROTTLE_START_DELAY: Annotated[float, 0, 86_400] = 1
# Longest delay of a host in seconds. Reader: frontier/config.py
AUTOTHROTTLE_MAX_DELAY: Annotated[float, 0, 86_400] = 60
# Average number of requests in flight to a host that AutoThrottle aims at. Reader: frontier/config.py
AUTOTHROTTLE_TARGET_CONCURRENCY: Annotated[float, 0.01, 1_000] = 1.0
# Faults of a host in a row (refused, unresolved, timed out, dropped, 5xx) that open its circuit breaker; 0 = never.
# Reader: frontier/config.py
FRONTIER_BREAKER_FAULTS: Annotated[int, 0, 1_000] = 5
# Seconds for which an opened circuit breaker pauses a host before one probe is sent, at most
# FRONTIER_BREAKER_MAX_SECONDS; doubled each time the probe fails. Reader: frontier/config.py
FRONTIER_BREAKER_SECONDS: Annotated[float, 0.1, 86_400] = 30
# Longest pause of an open circuit breaker in seconds. Reader: frontier/config.py
FRONTIER_BREAKER_MAX_SECONDS: Annotated[float, 0.1, 86_400] = 1_800
# Seconds for which the pace of an idle host is remembered. Reader: frontier/config.py
FRONTIER_HOST_MEMORY_SECONDS: Annotated[float, 1, 2_592_000] = 3_600

# --- Download -----------------------------------------------------------------------------------------------
# Requests in flight in one worker; also the number of names resolved at once. Scrapy: 16. Readers: Scrapy,
# worker/prefetch.py, handlers/resolver.py
CONCURRENT_REQUESTS: Annotated[int, 1, 10_000] = 32
# Seconds for one download. Scrapy: 180. Readers: Scrapy, handlers/http/handler.py, proxies/pools.py
DOWNLOAD_TIMEOUT: Annotated[float, 0.1, 86_400] = 60
# Seconds for one connection: TCP, the proxy's answer to CONNECT and TLS, but not the DNS look-up. A lost SYN is sent
# again after 1, 3 and 7 s: with less, a busy network is taken for a dead host; with more, a port that never answers
# holds its host's slot for longer. Reader: handlers/connecting.py
CONNECT_TIMEOUT_SECONDS: Annotated[float, 0.1, 600] = 10
# Seconds for one DNS look-up: less than ROBOTSTXT_TIMEOUT_SECONDS, or hosts look silent to the whole fleet while the
# name server of one worker is. Scrapy: 60. Reader: handlers/resolver.py
DNS_TIMEOUT: Annotated[float, 0.1, 600] = 15
# Bytes of one response beyond which it is cut off; 0 = no limit. Scrapy: 1 GB. Readers: Scrapy,
# handlers/http/download.py
DOWNLOAD_MAXSIZE: Annotated[int, 0, 1_000_000_000_000_000] = 10 * 1024 * 1024
# Bytes of one response beyond which a warning is logged; 0 = never. Scrapy: 32 MB. Readers: Scrapy,
# handlers/http/download.py
DOWNLOAD_WARNSIZE: Annotated[int, 0, 1_000_000_000_000_000] = 0
# Most bytes of a response's headers. Reader: handlers/http/handler.py
DOWNLOAD_HEADERS_MAXSIZE: Annotated[int, 1_024, 16_777_216] = 64 * 1024
# Most header lines of a response. Reader: handlers/http/handler.py
DOWNLOAD_HEADERS_MAXCOUNT: Annotated[int, 16, 65_536] = 256
# Seconds for which a connection is kept for the next request to its host; servers close theirs after 5 to 75, and less
# where the server says so (`Keep-Alive: timeout=5`). Reader: handlers/http/pool.py
CONNECTION_IDLE_SECONDS: Annotated[float, 0.1, 3_600] = 30
# Idle connections that one worker keeps, at most one for each two files that the process may open. Reader:
# handlers/http/pool.py
CONNECTION_IDLE_LIMIT: Annotated[int, 0, 100_000] = 4_096
# Memory for idle connections and for TLS sessions of closed ones, in MiB: a connection over TLS counts as 48 KB, and a
# session as 6 KB; both as more where certificates or tickets are long. Reader: handlers/http/pool.py
CONNECTION_IDLE_MB: Annotated[int, 1, 100_000] = 128
# Seconds for which resolved addresses of a host are used: the system's resolver reports no TTL. Scrapy: for the life of
# the process. Reader: handlers/resolver.py
DNSCACHE_SECONDS: Annotated[float, 0, 86_400] = 300
# Seconds after their last use at which cookies are forgotten (at the earliest after half of that), for domains with
# `cookies` in domains.toml. Reader: middlewares/downloader/cookies.py
SESSION_SECONDS: Annotated[int, 60, 31_536_000] = 86_400
# Longest URL in characters, the same as in crawler/urls.py. Scrapy: 2083. Reader: Scrapy
URLLENGTH_LIMIT: Annotated[int, 0, 1_000_000] = 4096

# --- Safety -------------------------------------------------------------------------------------------------
# Networks that may be dialled although they are not public, such as `10.1.0.0/16,::1/128`. Every other
# loopback, private, link-local or cloud metadata address is refused when the connection is made, wherever it came from.
# The local demos need 127.0.0.0/8. Reader: policy/address_guard.py
GUARD_ALLOWED_NETWORKS = ""
# True: names behind a proxy are resolved here first and refused when they are internal. False where workers cannot
# resolve names themselves: the proxy resolves. Reader: handlers/http/handler.py
GUARD_RESOLVE_PROXIED = True
# Verify TLS certificates. Scrapy: False, because of broken sites. Reader: Scrapy, handlers/browser/handler.py
DOWNLOAD_VERIFY_CERTIFICATES = True
# Scrapy's telnet console, which runs whatever is sent to it. Scrapy: True. Reader: Scrapy
TELNETCONSOLE_ENABLED = False
# Scrapy's remote control, which runs whatever is sent to it. Reader: Scrapy
REMOTE_CONTROL_ENABLED = False

# --- Proxies ------------------------------------------------------------------------------------------------
# Pools of proxies as a dict (docs/proxies.md). They hold passwords: keep them out of the repository. Reader:
# proxies/pools.py
PROXY_POOLS: dict[str, object] = {}
# TOML file with more pools, reloaded when it changes; its names must differ from those in PROXY_POOLS. Reader:
# proxies/pools.py
PROXY_POOLS_FILE = ""
# Pool of requests and domains that name none; empty = no proxy, as Scrapy. Reader: proxies/pools.py
PROXY_POOL = ""
# Seconds between two checks of PROXY_POOLS_FILE; a change applies once two checks in a row see the same file. Reader:
# proxies/pools.py
PROXY_RELOAD_SECONDS: Annotated[float, 0.1, 3_600] = 5
# Other proxies tried for one request before the failure counts against the host. They do not count towards RETRY_TIMES.
# Reader: proxies/pools.py
PROXY_RETRY_TIMES: Annotated[int, 0, 20] = 3
# Failures in a row after which the fleet quarantines a proxy. Reader: proxies/pools.py
PROXY_FAILURES: Annotated[int, 1, 100] = 3
# Seconds of a proxy's first quarantine; doubled each time. Reader: proxies/pools.py
PROXY_QUARANTINE_SECONDS: Annotated[float, 0.1, 86_400] = 30
# Longest quarantine of a proxy in seconds, at least PROXY_QUARANTINE_SECONDS. Reader: proxies/pools.py
PROXY_QUARANTINE_MAX_SECONDS: Annotated[float, 0.1, 86_400] = 3_600

# --- Api tier -----------------------------------------------------------------------------------------------
# Scraping APIs by name, as a dict or a JSON object: what to call and where the response holds the page
# (docs/browser.md). The first one that is up is used. Reader: policy/api_providers.py
API_PROVIDERS = ""
# Secrets of the providers: the one of key ACME replaces {key} of provider "acme". This deployment reads API_KEY_ACME
# from the environment. Reader: handlers/api/handler.py
API_KEYS: dict[str, str] = {}

# --- Browser tier -------------------------------------------------------------------------------------------
# Path or name of the Chromium to start. Empty: chromium, chromium-headless-shell, then Playwright's own. Reader:
# handlers/browser/chromium.py
BROWSER_EXECUTABLE = ""
# Pages open at once in one worker; a worker of tier browser alone leases no more than that. Readers:
# handlers/browser/chromium.py, worker/prefetch.py
BROWSER_CONCURRENCY: Annotated[int, 1, 64] = 4
# Longest wait, once the document has loaded, for half a second without network traffic, in seconds; 0 = do not wait.
# Reader: handlers/browser/chromium.py
BROWSER_SETTLE_SECONDS: Annotated[float, 0, 60] = 3
# What pages do not load: any of image, media, font, stylesheet, script, xhr, fetch, manifest. Reader:
# handlers/browser/chromium.py
BROWSER_BLOCKED_RESOURCES = ["image", "media", "font"]
# Resources that one page may ask for, blocked ones too; one that asks for more is a dead letter. Few pages ask for 500.
# Reader: handlers/browser/chromium.py
BROWSER_PAGE_REQUESTS: Annotated[int, 1, 1_000_000] = 2_000
# Pages after which a context (cookies, storage, connections) is replaced. Reader: handlers/browser/chromium.py
BROWSER_CONTEXT_PAGES: Annotated[int, 1, 100_000] = 50
# Seconds after which a context is replaced. Reader: handlers/browser/chromium.py
BROWSER_CONTEXT_SECONDS: Annotated[float, 1, 86_400] = 600
# Pages after which the browser is replaced. Reader: handlers/browser/chromium.py
BROWSER_MAX_PAGES: Annotated[int, 1, 1_000_000] = 1_000
# Private memory of the browser's processes, in MiB, beyond which it is replaced; at twice that at once. Reader:
# handlers/browser/chromium.py
BROWSER_MEMORY_MB: Annotated[int, 128, 1_000_000] = 1024
# Seconds between two checks of the browser's memory and responsiveness. Reader: handlers/browser/chromium.py
BROWSER_CHECK_SECONDS: Annotated[float, 0.1, 600] = 5
# Most that one connection of the browser may receive, in MiB. Reader: handlers/browser/chromium.py
BROWSER_CONNECTION_MAX_MB: Annotated[int, 1, 10_000] = 100

# --- Retries ------------------------------------------------------------------------------------------------
# Status codes worth a retry: Scrapy's list, and 407 (a proxy's refusal), 421, 425 and Cloudflare's codes for an
# origin that is down. Readers: Scrapy, policy/endings/retries.py
RETRY_HTTP_CODES = [407, 408, 421, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]
# Base of a retry's wait in seconds: it waits in the frontier for a random part of base * 2^n. Scrapy retries at once.
# Reader: policy/endings/retries.py
RETRY_BASE_SECONDS: Annotated[float, 0, 3_600] = 1
# Longest wait of a retry in seconds. Reader: policy/endings/retries.py
RETRY_CAP_SECONDS: Annotated[float, 0, 86_400] = 300
# Retries by class of failure (policy/endings/failures.py): `times` (0 to 1000), `base_seconds` and `cap_seconds`.
# Missing values are RETRY_TIMES, RETRY_BASE_SECONDS and RETRY_CAP_SECONDS, whose ranges these have; they also win where
# a spider or the command line sets them. Reader: policy/endings/retries.py
RETRY_CLASSES = {
    "rate_limited": {"times": 10},  # the page exists: come back later
    "transient": {},
    "host_fault": {"times": 3, "base_seconds": 10, "cap_seconds": 3600},  # most wait behind the host's circuit breaker
    "blocked": {"times": 2, "base_seconds": 30, "cap_seconds": 3600},
    "malformed": {},  # cut off, broken chunks: often the connection's fault
}
# Added to a retry's priority. Scrapy: -1, which here is a minute of waiting, behind all earlier first visits of the
# host. Reader: Scrapy
RETRY_PRIORITY_ADJUST: Annotated[int, -1_000, 1_000] = 0

# --- Spiders and extraction ---------------------------------------------------------------------------------
# Rules per domain: fields, links, required elements, politeness; settings/domains.toml describes every key. Read once
# at the start; empty = none. Reader: policy/rules/domains.py
DOMAINS_FILE = ""
# Size in KB beyond which our spiders read a page in a child process with limits: one of 2 MB holds up the event loop
# for 20 to 40 ms, one of 4 MB for 100. Pages whose markup is built to hurt a parser are read there too. Reader:
# spiders/bounds.py
PARSE_APART_KB: Annotated[int, 0, 1_000_000] = 2_000
# CPU seconds of that child for one page; beyond them the page is a dead letter, `too_costly`. A page for a callback of
# your own, which parses it on the event loop, may take a tenth of them, for each 5 MB as much again. Reader:
# spiders/bounds.py
PARSE_MAX_SECONDS: Annotated[float, 1, 3_600] = 10
# Memory of that child in MB; beyond it the page is a dead letter, `too_costly`. Reader: spiders/bounds.py
PARSE_MAX_MB: Annotated[int, 256, 1_000_000] = 1_000

# --- Items and storage --------------------------------------------------------------------------------------
# False: items pass only the project's own pipelines, and MongoDB is not needed. Reader: startup/wiring.py
SHOAL_STORE = True
# Pipelines that the add-on adds to the project's own, with their order. Reader: startup/wiring.py
FRONTIER_ITEM_PIPELINES = {
    "crawler.pipelines.clean.CleanPipeline": 100,
    "crawler.pipelines.validate.ValidatePipeline": 200,
    "crawler.pipelines.dedupe.DedupePipeline": 300,
    "crawler.pipelines.mongodb.MongoPipeline": 900,  # last: what other pipelines change is stored too
}
# Characters kept of one text field; a cut is noted in `issues`. Reader: pipelines/clean.py
ITEM_TEXT_MAX_CHARS: Annotated[int, 100, 4_000_000] = 100_000
# Issues that send an item to rejected_items; any other issue is only noted on the item. Names:
# policy/items/validation.py. Reader: pipelines/validate.py
ITEM_FATAL_ISSUES = [
    "missing_url",
    "invalid_url",
    "missing_title",
    "invalid_price",
    "negative_price",
    "wrong_type",
    "empty_page",
]
# Items that a worker remembers to avoid a second write of the same content; 0 = off. Reader: pipelines/dedupe.py
ITEM_DEDUPE_SIZE: Annotated[int, 0, 10_000_000] = 10_000
# Seconds between two fetches within which the second write is skipped; a later one is a recrawl, which moves
# last_seen_at. Reader: pipelines/dedupe.py
ITEM_DEDUPE_SECONDS: Annotated[float, 1, 86_400] = 60
# Collections (products, pages) in which an item is not stored again when its content is stored under another URL of
# its host: it is linked to that in `duplicates`. Reader: storage/config.py
LINK_DUPLICATES_OF = ["products", "pages"]
# Largest stored item in MiB: MongoDB takes 16, and a changed document holds its earlier states until they are in the
# history. Reader: storage/config.py
ITEM_MAX_MB: Annotated[float, 0.01, 5] = 4
# Most items in one bulk write. Reader: storage/config.py
STORAGE_BATCH_SIZE: Annotated[int, 1, 10_000] = 500
# Milliseconds for which a bulk write collects items. A page is acknowledged only after its batch, so a longer wait
# holds more leases. Reader: storage/config.py
STORAGE_BATCH_MS: Annotated[int, 1, 10_000] = 50
# Seconds to wait for MongoDB to be reachable. Reader: storage/connection.py
STORAGE_CONNECT_SECONDS: Annotated[float, 0.1, 60] = 5
# Seconds to wait for a reply from MongoDB. Reader: storage/connection.py
STORAGE_REPLY_SECONDS: Annotated[float, 0.1, 600] = 60
# Longest pause in seconds between two tries while MongoDB is away. Reader: storage/config.py
STORAGE_RETRY_MAX_SECONDS: Annotated[float, 0.05, 600] = 15
# True: an observation with the same fetch time as the stored one replaces it. `scrapy reparse` sets it; two items of
# one page with one identity would replace each other without end. Reader: storage/config.py
STORAGE_RESTATE = False
# Collections whose changes are kept with old and new values, and the collection that holds them. Texts of pages would
# double the database, so `pages` is not in it. Reader: storage/config.py
CHANGE_HISTORY = {"products": "product_changes"}
# Days after its last rejection at which a rejected item is forgotten. Reader: storage/config.py
REJECTED_ITEMS_DAYS: Annotated[int, 1, 3_650] = 30
# Directory where items wait while MongoDB is away, their pages acknowledged. Use a disk that outlives the worker.
# Empty = no spool: items wait in memory, and nothing new is leased. Reader: storage/config.py
SPOOL_DIR = "spool"
# MiB that the spools of all workers of a machine may fill. Reader: storage/config.py
SPOOL_MAX_MB: Annotated[float, 1, 10_000_000] = 1_024
# Share of SPOOL_MAX_MB beyond which workers lease nothing until half of it is stored. Reader: storage/config.py
SPOOL_HIGH_WATER: Annotated[float, 0.05, 1] = 0.8
# On a recrawl, ask whether a page has changed since the version that was stored (ETag, Last-Modified). Reader:
# middlewares/conditional/downloader.py
CONDITIONAL_REQUESTS = True
# Days after which a page is fetched whole again although its server says that it is unchanged. Reader:
# middlewares/conditional/downloader.py
CONDITIONAL_DAYS: Annotated[int, 1, 3_650] = 90
# Days for which each fetch attempt is recorded; 0 = off. Reader: storage/attempts.py
ATTEMPTS_DAYS: Annotated[int, 0, 3_650] = 7
# Attempts recorded per second and worker; beyond that only a random sample is recorded. Reader: storage/attempts.py
ATTEMPTS_PER_SECOND: Annotated[int, 1, 100_000] = 100

# --- Archive of raw pages -----------------------------------------------------------------------------------
# Which pages are kept as WARC records, to be parsed again without a request: "all", "changed" (not the same as the
# last one of the URL), "failed" (dead letters because of the page: a callback that raised, a rejected item, a block
# page, an empty shell), "none". Reader: storage/archive/config.py
ARCHIVE_PAGES = "failed"
# Directory where archive files are written; without ARCHIVE_URI they stay there. Reader: storage/archive/config.py
ARCHIVE_DIR = "archive"
# Where finished archive files are moved to: s3://bucket/prefix, gs://bucket/prefix, az://account/container or
# file:///directory; empty = nowhere. Credentials come from the environment. Reader: storage/archive/config.py
ARCHIVE_URI = ""
# Options of obstore for ARCHIVE_URI (endpoint ...). Reader: storage/archive/config.py
ARCHIVE_OPTIONS: dict[str, object] = {}
# Size in MiB at which an archive file is finished. Reader: storage/archive/config.py
ARCHIVE_FILE_MB: Annotated[float, 0.001, 10_240] = 256
# Age in seconds at which an archive file is finished. Reader: storage/archive/config.py
ARCHIVE_FILE_SECONDS: Annotated[float, 1, 86_400] = 3_600
# Days without use after which a finished archive file is deleted; 0 = never. Reader: storage/archive/config.py
ARCHIVE_KEEP_DAYS: Annotated[int, 0, 36_500] = 0
# GiB of finished archive files beyond which the least recently used are deleted; 0 = no limit. Reader:
# storage/archive/config.py
ARCHIVE_KEEP_GB: Annotated[float, 0, 1_000_000] = 100
# The same limit in GiB for files that hold only failures; 0 = no limit. Reader: storage/archive/config.py
ARCHIVE_FAILED_GB: Annotated[float, 0, 1_000_000] = 1
# GiB of archive files waiting for upload beyond which pages wait and are not acknowledged. Reader:
# storage/archive/config.py
ARCHIVE_PENDING_GB: Annotated[float, 0.001, 1_000_000] = 4

# --- Monitoring ---------------------------------------------------------------------------------------------
# Log one JSON object per line instead of text; both carry the request_id. Reader: extensions/logs.py
LOG_JSON = False
# Share of the requests that are traced with OpenTelemetry (docs/traces.md); 0 = off, and nothing of it is imported.
# Reader: tracing/config.py
TRACES_RATIO: Annotated[float, 0, 1] = 0.0
# Where spans go: the full address of an OTLP receiver over HTTP. Empty = what OpenTelemetry's own variables say
# (OTEL_EXPORTER_OTLP_ENDPOINT), else http://localhost:4318/v1/traces. Reader: tracing/config.py
TRACES_URL = ""
# Address where a worker serves /metrics, /healthz and /readyz under `scrapy crawl`. Reader: extensions/metrics.py
METRICS_HOST = "127.0.0.1"
# Port of that address; 0 = the system chooses a free one, which the log names (several workers share a
# laptop); -1 = off. Reader: extensions/metrics.py
METRICS_PORT: Annotated[int, -1, 65_535] = 0
# Seconds between two looks at the whole fleet for its metrics. Reader: metrics/fleet_collector.py
METRICS_QUEUE_SECONDS: Annotated[float, 0.1, 3_600] = 15
# Workers that should be alive, for the alert that some are missing; 0 = nobody says. Reader: metrics/fleet_collector.py
FLEET_WORKERS: Annotated[int, 0, 100_000] = 0
# Seconds for which the event loop may be stuck before /healthz asks for a restart: parsing one huge page takes seconds.
# While a callback blocks it, FRONTIER_HARD_CAP_SECONDS if that is more. Reader: extensions/metrics.py
HEALTH_MAX_LAG_SECONDS: Annotated[float, 1, 3_600] = 60

# --- Service ------------------------------------------------------------------------------------------------
# Address where `scrapy serve` answers. Reader: serve/config.py
SERVE_HOST = "127.0.0.1"
# Port of that address; 0 = the system chooses a free one, which the log names. Reader: serve/config.py
SERVE_PORT: Annotated[int, 0, 65_535] = 9411
# Seconds for which a replica of `scrapy serve` leads without prolonging it: for so long schedules wait when the leader
# is killed. Reader: serve/config.py
SERVE_LEASE_SECONDS: Annotated[float, 1, 600] = 15
# Requests that may be fetched now, for each of which /scaling wants one worker more, as long as hosts take as many at
# once. Reader: serve/scaling.py
SCALING_REQUESTS_PER_WORKER: Annotated[float, 1, 1_000_000] = 500
# Seconds for which /scaling stays at the most that was wanted. Reader: serve/scaling.py
SCALING_HOLD_SECONDS: Annotated[float, 0, 86_400] = 120

# --- Process ------------------------------------------------------------------------------------------------
# Items of one page that are in pipelines at once: each batch of the store takes as many of them, no more. As in Scrapy.
# Reader: engine/item_processor.py
CONCURRENT_ITEMS: Annotated[int, 1, 1_000_000] = 100
# uvloop with one fix: its timers fire up to 1.5 ms early, which made periodic work run dozens of times.
# Reader: Scrapy
ASYNCIO_EVENT_LOOP = "crawler.engine.event_loop.Loop"
# Scrapy's stats without its check for a deprecated argument, which costs twenty times as much as counting. Reader:
# Scrapy
STATS_CLASS = "crawler.engine.stats_collector.StatsCollector"
# New objects between two runs of Python's garbage collector, once the program's own objects are frozen; 0 = leave the
# collector alone. Python: 700, nothing frozen. Lower costs CPU, higher keeps pages longer that are part of a reference
# cycle. Reader: extensions/garbage.py
GC_THRESHOLD: Annotated[int, 0, 1_000_000] = 10_000
