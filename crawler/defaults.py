"""Every tunable: default, unit, range, and who reads it. docs/settings.md is made from this file: `make docs`.

The add-on sets these below the project's own settings. Names that are Scrapy's too depart from its default under
`scrapy crawl` only; where this project's deployment departs in turn stands in settings/base.py.
Names end in their unit. A value out of range stops the start with one line that says what is expected.
"""

# --- Servers ---------------------------------------------------------------------------------------------
# Where the servers are; empty = start (or join) the bundled ones of this machine.
# Readers: frontier/server/connection.py, storage/connection.py
REDIS_URL = ""
MONGODB_URI = ""
# Database of items, attempts and the archive's index. Reader: storage/connection.py
MONGODB_DATABASE = "shoal"
# Data of the bundled servers. This relative path, as others of this file, means below the project's `.scrapy`; what is
# set elsewhere is taken as it is. Reader: embedded/
EMBEDDED_DATA_DIR = "services"

# --- Frontier --------------------------------------------------------------------------------------------
# Readers: frontier/config.py, seeds.py and connection.py, unless said otherwise. Workers of one fleet share them.
REDIS_CLUSTER = False  # True: REDIS_URL names a node of a Redis or Valkey Cluster
REDIS_START_URLS_AS_SET = False  # start URLs are LPUSHed to a list, or with True SADDed to a set (scrapy-redis' name)
REDIS_START_URLS_AS_ZSET = False  # with True ZADDed to a sorted set (scrapy-redis' name)
FRONTIER_KEY = "shoal"  # first part of every key: two fleets on one server need two
FRONTIER_SHARDS = 1  # fixed while there is data; more spread the load over the nodes of a Cluster
FRONTIER_LEASE_SECONDS = 120  # a silent worker's requests go back after this; renewed every quarter of it
FRONTIER_START_WITHIN_SECONDS = 20  # from lease to wire start; later the request is given back, uncharged
# 1 to 3600: a closing worker tells Redis what is left for no longer. Reader: worker/maintenance.py
FRONTIER_CLOSE_SECONDS = 20
FRONTIER_HARD_CAP_SECONDS = 900  # from wire start to ack, renewed no longer after that; a callback may block so long
FRONTIER_MAX_DELIVERIES = 5  # wire starts without an end; then a dead letter
FRONTIER_PRIORITY_STEP_SECONDS = 60  # one step of priority is worth this much waiting
FRONTIER_QUEUE_LIMIT = 50_000_000  # queued and delayed requests; beyond it new pushes are refused
FRONTIER_QUEUE_HIGH_WATER = 40_000_000  # from here on no seeds are taken in
FRONTIER_MEMORY_LIMIT = 0.9  # share of maxmemory: beyond it pushes are refused, and workers lease one request at a time
FRONTIER_MEMORY_HIGH_WATER = 0.8  # from here on no seeds are taken in
FRONTIER_RETENTION_SECONDS = 7 * 86_400  # a finished generation's fingerprints are kept for this long
FRONTIER_DEDUPE = "compact"  # or "exact", "window", "bloom": what a generation remembers, fixed when it opens
FRONTIER_WINDOW_SECONDS = 86_400  # window: a URL may be crawled again this long after it was done
FRONTIER_BLOOM_CAPACITY = 10_000_000  # bloom: URLs per generation for which the error rate holds
FRONTIER_BLOOM_ERROR_RATE = 1e-5  # bloom: share of new URLs that are taken for known, and never crawled
FRONTIER_DEAD_LIMIT = 100_000  # dead letters kept; beyond it the oldest are evicted
FRONTIER_GONE_LIMIT = 10_000  # pages that sites refuse for good (404, 410 ...) kept to be listed; the oldest make room
FRONTIER_BREAKER_FAULTS = 5  # refused, unresolved, timed out, dropped or 5xx in a row: left alone; 0 = never
FRONTIER_BREAKER_SECONDS = 30  # until one request tries whether it works again; doubled each time that it does not
FRONTIER_BREAKER_MAX_SECONDS = 1_800  # longest time for which an open circuit breaker waits for its next try
FRONTIER_HOST_MEMORY_SECONDS = 3_600  # an idle host's pace is remembered for this long

# Longest wait before Redis is asked again for due work, in seconds (0.01 to 60). Reader: worker/prefetch.py
FRONTIER_POLL_SECONDS = 0.5
# A fetch unanswered for longer makes its host slow; slow hosts together hold at most half of a worker's slots.
# Seconds, 0.1 to 3600. Reader: worker/prefetch.py
FRONTIER_SLOW_HOST_SECONDS = 10
# scrapy-redis would delete the queue when a worker closes; here that is refused. Reader: worker/scheduler.py
SCHEDULER_PERSIST = True
# Seconds without any work, for this worker and the whole frontier, after which a worker ends; 0 = wait for ever.
# scrapy-redis' name. Reader: extensions/idle.py
MAX_IDLE_TIME_BEFORE_CLOSE = 0
# Tracking parameters do not make a new page. Reader: Scrapy, commands/push.py
REQUEST_FINGERPRINTER_CLASS = "crawler.routing.fingerprint.RequestFingerprinter"
# Which queues of a spider this worker leases from: http, browser, api, or several with commas between them.
# Reader: worker/lease_queue.py
TIER = "http"
# Tiers that count as served although none of their workers is alive: pools that start when work is queued for them.
# Reader: worker/tier_tracker.py
TIERS_SERVED = ""
# How many pages of a host have to fail at its tier (1 to 500: block pages, empty app shells), and which share of its
# pages there (0 to 1), before the whole host steps up; a page that failed steps up at once. Reader: policy/tiers.py
TIER_FAILURES = 3
TIER_FAILURE_SHARE = 0.2
# A host that stepped up stays there for this long (seconds, 0.1 to 30 days); then this many good pages (1 to 1000) of
# the tier below bring it down, and the first bad one doubles the time, up to the longest (up to a year).
# Reader: policy/tiers.py
TIER_TERM_SECONDS = 6 * 3_600
TIER_TERM_MAX_SECONDS = 7 * 86_400
TIER_TRIAL_PAGES = 3
# Most requests, and most cost, of browser and api on one day (UTC), over the whole fleet; what is not named has no
# limit. Cost is what the tier's fetcher reports: the tokens of a scraping API. Reader: worker/tier_tracker.py
TIER_DAILY_REQUESTS: dict[str, float] = {}
TIER_DAILY_COST: dict[str, float] = {}
# Seconds between two looks at what the fleet knows of tiers, 0.05 to 300: a budget is overrun by what is fetched
# meanwhile. Reader: worker/maintenance.py
TIER_REFRESH_SECONDS = 5

# --- Politeness ------------------------------------------------------------------------------------------
# Scrapy's default is False. Reader: Scrapy, middlewares/downloader/robots.py
ROBOTSTXT_OBEY = True
# One fetch of a robots.txt serves the whole fleet for this long; 1 to 86,400 seconds, RFC 9309 allows a day. Each
# worker keeps that many of them parsed (one of 50 rules takes 30 KB), 1 to 1,000,000. Reader:
# middlewares/downloader/robots.py
ROBOTSTXT_TTL_SECONDS = 86_400
ROBOTSTXT_CACHE_SIZE = 1_000
# A robots.txt that does not come within so many seconds (1 to 600), or with a 5xx, cannot be reached: its pages wait,
# and it is asked for again after so many seconds (0.1 to 3600), later after as long as it has been failing, at most
# an hour. After so many seconds (1 to 31,536,000) of that its pages are dead letters, `robots_unreachable`.
# Reader: middlewares/downloader/robots.py
ROBOTSTXT_TIMEOUT_SECONDS = 20
ROBOTSTXT_RETRY_SECONDS = 60
ROBOTSTXT_UNREACHABLE_SECONDS = 86_400
# Seconds between two requests to one host, over the whole fleet (0 to 86,400), and how many may be in flight
# (1 to 1000). Scrapy: 0 and 8, per process. Reader: routing/host_rules.py
DOWNLOAD_DELAY = 1
CONCURRENT_REQUESTS_PER_DOMAIN = 1
# Scrapy's AutoThrottle, for the whole fleet: each host begins with the start delay (seconds, 0 to 86,400; Scrapy: 5),
# and is then visited as often as its latency allows with so many requests in flight on average (0.01 to 1000), if it
# does not push back. No delay grows beyond the largest (0 to 86,400). Reader: frontier/config.py
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 1
AUTOTHROTTLE_MAX_DELAY = 60
AUTOTHROTTLE_TARGET_CONCURRENCY = 1.0
# What is one host: its "hostname", or the registrable "domain" (shop.example.co.uk -> example.co.uk).
# Reader: routing/host_rules.py
POLITENESS_GROUP = "hostname"
# A host that was left alone may get that many requests before each waits for DOWNLOAD_DELAY again (1 to 1000): a
# token bucket. No bursts where robots.txt names a delay or the host has pushed back. Reader: routing/host_rules.py
POLITENESS_BURST = 1
# What a retry's priority changes by, -1000 to 1000. Scrapy: -1, which is a minute of waiting here, behind all first
# visits of the host that were queued before. Reader: Scrapy
RETRY_PRIORITY_ADJUST = 0
# First wait before a retry and the longest one, in seconds (0 to 3600, 0 to 86,400): the retry waits in the
# frontier for a random part of base * 2^n. Scrapy retries at once. Reader: policy/retries.py
RETRY_BASE_SECONDS = 1
RETRY_CAP_SECONDS = 300
# The same by class of failure (crawler/policy/failures.py), and how often: `times` 0 to 1000, `base_seconds` 0 to
# 3600, `cap_seconds` 0 to 86,400. What a class leaves out is RETRY_TIMES, RETRY_BASE_SECONDS or RETRY_CAP_SECONDS;
# these also win where a spider or the command line sets them. Reader: policy/retries.py
RETRY_CLASSES = {
    "rate_limited": {"times": 10},  # the page is there: it is a matter of coming back later
    "transient": {},
    "host_fault": {"times": 3, "base_seconds": 10, "cap_seconds": 3600},  # most wait behind the host's breaker
    "blocked": {"times": 2, "base_seconds": 30, "cap_seconds": 3600},
    "malformed": {},  # cut off, broken chunks: often it was the connection after all
}
# Scrapy's list, and 407 (the proxy's refusal), 421, 425 and Cloudflare's other words for an origin that is away.
# Reader: Scrapy, policy/retries.py
RETRY_HTTP_CODES = [407, 408, 421, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]

# --- Proxies ---------------------------------------------------------------------------------------------
# Pools of proxies: here, or in a TOML file that may change while the crawl runs (docs/proxies.md); names must differ.
# They hold passwords: keep the file out of the repository. Reader: proxies/pools.py
PROXY_POOLS: dict[str, object] = {}
PROXY_POOLS_FILE = ""
# The pool of requests and domains that name none; empty: none, as Scrapy. Reader: proxies/pools.py
PROXY_POOL = ""
# Seconds between two looks at the file, 0.1 to 3600; a change counts at the second that finds it alike. Reader:
# proxies/pools.py
PROXY_RELOAD_SECONDS = 5
# Fresh proxies tried for one request before the host is taken at its word, 0 to 20. They are no retries: RETRY_TIMES
# counts what the host fails. Reader: proxies/pools.py
PROXY_RETRY_TIMES = 3
# Failures in a row (1 to 100) after which the fleet leaves a proxy alone, for how long at first, and for how long at
# most (0.1 to 86,400 seconds each; twice as long each time it happens again). Reader: proxies/pools.py
PROXY_FAILURES = 3
PROXY_QUARANTINE_SECONDS = 30
PROXY_QUARANTINE_MAX_SECONDS = 3_600

# --- Spiders, extraction ---------------------------------------------------------------------------------
# Rules per domain: fields, links, required elements, politeness; the file's head describes it. Read once at the
# start; empty: none. Reader: policy/domains.py
DOMAINS_FILE = ""

# --- Items, storage --------------------------------------------------------------------------------------
# False: items pass the project's own pipelines only, and MongoDB is not needed. Reader: addon.py
SHOAL_STORE = True
# What an item passes through, in this order, beside the pipelines of the project. Reader: addon.py
FRONTIER_ITEM_PIPELINES = {
    "crawler.pipelines.clean.CleanPipeline": 100,
    "crawler.pipelines.validate.ValidatePipeline": 200,
    "crawler.pipelines.dedupe.DedupePipeline": 300,
    "crawler.pipelines.mongodb.MongoPipeline": 900,  # last: what other pipelines change is stored too
}
# A page of more than so many KB (0 to 1,000,000), or one whose markup is made to hurt a parser, is read by our spiders
# in a process of its own: at most so many seconds of CPU (1 to 3600) and MB of memory (256 to 1,000,000). Beyond that
# it is a dead letter `too_costly`. Reader: spiders/apart.py
PARSE_APART_KB = 4_000
PARSE_MAX_SECONDS = 10
PARSE_MAX_MB = 1_000
# Characters kept of one text field, 100 to 4,000,000; a cut is noted in `issues`. Reader: pipelines/clean.py
ITEM_TEXT_MAX_CHARS = 100_000
# Issues that keep an item out of its collection (it goes to rejected_items); any other issue is only noted on
# the item. Names: crawler/policy/validation.py. Reader: pipelines/validate.py
ITEM_FATAL_ISSUES = [
    "missing_url",
    "invalid_url",
    "missing_title",
    "invalid_price",
    "negative_price",
    "wrong_type",
    "empty_page",
]
# Items remembered by a worker to spare a second write of the same content, and for how many seconds between
# the two fetches; a later one is a recrawl, which moves last_seen_at. 0 to 10,000,000 items (0 = off), 1 to
# 86,400 s. Reader: pipelines/dedupe.py
ITEM_DEDUPE_SIZE = 10_000
ITEM_DEDUPE_SECONDS = 60
# Collections in which an item whose content is stored under another URL of its host is linked to that (in `duplicates`)
# and not stored again: products, pages. Reader: storage/config.py
LINK_DUPLICATES_OF = ["products", "pages"]
# Largest stored item in MiB: MongoDB takes 16, and a changed document holds its earlier states until they are
# on record. 0.01 to 5. Reader: storage/config.py
ITEM_MAX_MB = 4
# One bulk write takes up to this many items, or what came in this many ms. 1 to 10,000 each; a page is
# confirmed only after its batch, so a longer wait holds more leases. Reader: storage/config.py
STORAGE_BATCH_SIZE = 500
STORAGE_BATCH_MS = 50
# How long to wait for MongoDB to be reachable, then for its reply (0.1 to 60, 0.1 to 600), and the longest
# pause between two tries while it is away (0.05 to 600), in seconds. Reader: storage/
STORAGE_CONNECT_SECONDS = 5
STORAGE_REPLY_SECONDS = 60
STORAGE_RETRY_MAX_SECONDS = 15
# Where items wait on local disk while MongoDB is away, their pages confirmed; empty = no spool: then items wait in
# memory and no new work is leased. Give it a disk that outlives the worker. Reader: storage/config.py
SPOOL_DIR = "spool"
# MiB that all workers of a machine may fill (1 to 10,000,000), and the share of it (0.05 to 1) beyond which they lease
# nothing new until half of that is stored. Reader: storage/config.py
SPOOL_MAX_MB = 1_024
SPOOL_HIGH_WATER = 0.8
# True: an observation of the same fetch time as the stored one replaces it. `scrapy reparse` sets it; two items of
# one page under one identity would replace each other without end. Reader: storage/update.py
STORAGE_RESTATE = False
# Collections whose changes are kept with old and new values, and where. Texts of pages would double the
# database, so they are not here. Reader: storage/writer.py
CHANGE_HISTORY = {"products": "product_changes"}
# Days until an item that is no longer rejected again is forgotten. 1 to 3650. Reader: storage/indexes.py
REJECTED_ITEMS_DAYS = 30

# On a recrawl a page is asked whether it has changed, with what it said of its version (ETag, Last-Modified); that is
# forgotten so many days after the page was last seen. 1 to 3650. Reader: middlewares/conditional/downloader.py
CONDITIONAL_REQUESTS = True
CONDITIONAL_DAYS = 90

# --- Attempts log ----------------------------------------------------------------------------------------
# Days for which each fetch attempt is on record, 0 to 3650; 0 = off. Reader: storage/attempts.py
ATTEMPTS_DAYS = 7
# Documents written per second and worker, 1 to 100,000; above it a random sample stands for the others.
# Reader: storage/attempts.py
ATTEMPTS_PER_SECOND = 100

# --- Archive of raw pages --------------------------------------------------------------------------------
# Which pages are kept as WARC records, to be parsed again without a request: "all", "changed" (not the same as the
# URL's last one), "failed" (what ends as a dead letter because of its page: a callback that raised, a rejected item, a
# block page, an empty shell), "none". Reader: storage/archive/config.py, as of all below
ARCHIVE_PAGES = "failed"
# Where files are written; finished ones stay there, or go to ARCHIVE_URI (s3://bucket/prefix, gs://bucket/prefix,
# az://account/container). Options are obstore's (endpoint ...); credentials come from the environment, as always.
ARCHIVE_DIR = "archive"
ARCHIVE_URI = ""
ARCHIVE_OPTIONS: dict[str, object] = {}
# A file is finished at this size in MiB or age in seconds. 0.001 to 10,240; 1 to 86,400
ARCHIVE_FILE_MB = 256
ARCHIVE_FILE_SECONDS = 3_600
# Finished files are deleted when unused for so many days (0 to 36,500), and the longest unused ones when there is
# more than this in GiB (0 to 1,000,000), of files that hold only failures already beyond the second; 0 = no bound
ARCHIVE_KEEP_DAYS = 0
ARCHIVE_KEEP_GB = 100
ARCHIVE_FAILED_GB = 1
# Files waiting for upload, in GiB (0.001 to 1,000,000); beyond it pages wait and are not confirmed
ARCHIVE_PENDING_GB = 4

# --- Observing -------------------------------------------------------------------------------------------
# One JSON object per line instead of text; both carry the request_id. Reader: extensions/logs.py
LOG_JSON = False
# Where /metrics, /healthz and /readyz of a worker are served under `scrapy crawl`: port 1 to 65535, 0 = one of the
# system's choice, which the log names (several workers share a laptop), -1 = off. Reader: extensions/metrics.py
METRICS_HOST = "127.0.0.1"
METRICS_PORT = 0
# Seconds between two counts of the whole queue for the metrics, 0.1 to 3600. Reader: extensions/metrics.py
METRICS_QUEUE_SECONDS = 15
# Seconds for which the event loop may be stuck until /healthz asks for a restart, 1 to 3600: parsing one huge page
# takes seconds. While a callback holds it up, FRONTIER_HARD_CAP_SECONDS if that is more. Reader: extensions/metrics.py
HEALTH_MAX_LAG_SECONDS = 60

# --- Speed -----------------------------------------------------------------------------------------------
# Requests in flight in one worker (1 to 10,000), and names looked up at once. Scrapy: 16.
# Readers: Scrapy, worker/prefetch.py, handlers/resolver.py
CONCURRENT_REQUESTS = 32
# Per response; Scrapy's 100 starts 101 tasks for one item, where its own ITEM_PROCESSOR is in use. Reader: Scrapy
CONCURRENT_ITEMS = 4
# uvloop, whose timers would fire up to 1.5 ms early and make periodic work run dozens of times. Reader: Scrapy
ASYNCIO_EVENT_LOOP = "crawler.engine.event_loop.Loop"
# New objects between two looks of Python's garbage collector, once what the program itself consists of is set aside;
# 1 to 1,000,000, 0 = leave the collector as it is. Python: 700, and nothing aside. Reader: extensions/garbage.py
GC_THRESHOLD = 5_000
# Scrapy's checks each call for a deprecated argument, at twenty times the price of counting. Reader: Scrapy
STATS_CLASS = "crawler.engine.stats_collector.StatsCollector"
# Connections kept for the next request to their host: for how many seconds (0.1 to 3600; servers close theirs after
# 5 to 75), and how many of each scheme in one worker (0 to 100,000). Reader: handlers/http/handler.py
CONNECTION_IDLE_SECONDS = 30
CONNECTION_IDLE_LIMIT = 256
# Cookies of domains that ask for them (`cookies` in domains.toml) are forgotten so many seconds after their last use,
# at the earliest after half of that, 60 to 31,536,000. Reader: middlewares/downloader/cookies.py
SESSION_SECONDS = 86_400

# --- Tiers beyond http -----------------------------------------------------------------------------------
# What fetches the requests of a tier, in workers whose TIER has it. Reader: handlers/tiers.py
TIER_HANDLERS = {
    "browser": "crawler.handlers.browser.BrowserDownloadHandler",
    "api": "crawler.handlers.api.ApiDownloadHandler",
}

# --- Api tier --------------------------------------------------------------------------------------------
# Scraping APIs by name, the first that is up is used: what is called and where its answers hold the page. A map, or
# one as JSON; docs/browser.md describes the keys. Reader: policy/providers.py
API_PROVIDERS = ""
# Their secrets: the one of key ACME is the {key} of provider "acme". This project reads API_KEY_ACME from the
# environment. Reader: handlers/api/handler.py
API_KEYS: dict[str, str] = {}

# --- Browser tier -----------------------------------------------------------------------------------------
# Used by workers whose TIER has `browser` (docs/browser.md). Reader: handlers/browser/chromium.py, unless said
# otherwise.

# The Chromium to start, a path or a name; empty looks for chromium, chromium-headless-shell, then Playwright's own.
BROWSER_EXECUTABLE = ""
# Pages open at once in one worker, 1 to 64; a worker of the browser tier alone holds no more requests than it can
# load. Readers: handlers/browser/chromium.py, worker/prefetch.py
BROWSER_CONCURRENCY = 4
# Longest wait, after the document is there, for the network to be quiet for half a second: scripts fill the page.
# Seconds, 0 to 60; 0 = do not wait.
BROWSER_SETTLE_SECONDS = 3
# What a page does not load: image, media, font, stylesheet, script, xhr, fetch, manifest.
BROWSER_BLOCKED_RESOURCES = ["image", "media", "font"]
# A context (cookies, storage, connections) is replaced after so many pages or seconds, 1 to 100,000 and 1 to 86,400.
BROWSER_CONTEXT_PAGES = 50
BROWSER_CONTEXT_SECONDS = 600
# The browser is replaced after so many pages (1 to 1,000,000), or when its processes have more memory for themselves
# (MiB, 128 to 1,000,000); at twice that at once.
BROWSER_MAX_PAGES = 1_000
BROWSER_MEMORY_MB = 1024
# Seconds between two looks at the browser, whether it answers and at its memory, 0.1 to 600
BROWSER_CHECK_SECONDS = 5
# Most that one connection of the browser may bring, in MiB, 1 to 10,000
BROWSER_CONNECTION_MAX_MB = 100

# --- Safety ----------------------------------------------------------------------------------------------
# Consoles that run what is sent to them. Reader: Scrapy
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
# Networks that may be dialled although they are not the public internet, as `10.1.0.0/16,::1/128`: everything else
# that is loopback, private, link-local, cloud metadata ... is refused where the connection is made, whatever named
# it. The local demos need 127.0.0.0/8. Reader: policy/addresses.py
GUARD_ALLOWED_NETWORKS = ""
# For how long the addresses of a host are believed, in seconds (0 to 86,400). Scrapy: as long as the worker lives; the
# system's resolver tells no time to live. Reader: handlers/resolver.py
DNSCACHE_SECONDS = 300
# Behind a proxy it is the proxy that resolves. True: our resolver is asked first, and a name that it knows to be
# inside is refused; False where workers can resolve nothing themselves. Reader: handlers/http/handler.py
GUARD_RESOLVE_PROXIED = True
# Scrapy's default is False, for the sake of broken sites. Reader: Scrapy
DOWNLOAD_VERIFY_CERTIFICATES = True
# Bytes of one response: from how many on it is cut off, and warned of; 0 = any. Scrapy: 1 GB and 32 MB.
# Reader: Scrapy, handlers/http/download.py
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024
DOWNLOAD_WARNSIZE = 0
# Bytes (1,024 to 16,777,216) and lines (16 to 65,536) of a response's headers. Reader: handlers/http/handler.py
DOWNLOAD_HEADERS_MAXSIZE = 64 * 1024
DOWNLOAD_HEADERS_MAXCOUNT = 256
# Seconds for one download, 0.001 to 86,400. Scrapy: 180. Reader: Scrapy, handlers/http/handler.py
DOWNLOAD_TIMEOUT = 60
# Characters of a URL, as in crawler/urls.py; Scrapy: 2083. Reader: Scrapy
URLLENGTH_LIMIT = 4096
