"""Names of Scrapy stats that more than one room uses; the metrics endpoint exports exactly these.

A counter ends in what is counted; `{}` is filled with a reason or an outcome.
"""

from __future__ import annotations

from typing import Final

# frontier
PUSHED: Final = "frontier/pushed"
DUPLICATES: Final = "frontier/duplicates"
REFUSED: Final = "frontier/refused"
WAITED_FOR_ROOM: Final = "frontier/waited_for_room"  # pages whose requests Redis had no room for
PUT_OFF: Final = "frontier/put_off"  # of these, given back to be fetched later
START_LOST: Final = "frontier/start_requests_lost"  # start requests that a closing worker could not store
DATA_LOST: Final = "frontier/data_lost"  # times that Redis was found emptied
LEASED: Final = "frontier/leased"
ACKED: Final = "frontier/acked"
NACKED: Final = "frontier/nacked"  # in all
NACKED_FOR: Final = "frontier/nacked_for/{}"
GIVEN_BACK: Final = "frontier/given_back"
BURIED: Final = "frontier/dead/{}"
GONE: Final = "frontier/gone/{}"  # pages that their site refuses for good: done, and listed separately
UNSERIALISABLE: Final = "frontier/unserialisable"
RESTORED: Final = "frontier/restored"  # requests put back as they were queued: their present form cannot be stored
CREDENTIALS: Final = "frontier/credentials_cut"  # requests whose URL had a user name or password
SCOPE_CUT: Final = "scope/cut/{}"  # links and pages that are out of scope, by rule
SITEMAPS_READ: Final = "sitemaps/read"
SITEMAP_NAMED: Final = "sitemaps/named/{}"  # by sitemaps: pages, sitemaps, what was left out, lastmods
SCOPE_SESSIONS: Final = "scope/sessions"  # links from which a session id was taken
UNFETCHABLE: Final = "frontier/unfetchable"  # links that are not http or https URLs
STALE: Final = "frontier/stale_tokens"
RETRIED: Final = "frontier/retried"
RETRIES: Final = "retry/classes/{}"  # retries by failure class: crawler/policy/failures.py
FAILURES: Final = "failures/{}"  # requests that ended with that failure class; permanent ones are done
BREAKER_OPENED: Final = "frontier/breaker_opened"  # hosts paused because they did not work
BREAKER_CLOSED: Final = "frontier/breaker_closed"
TIER_MOVES: Final = "tiers/moves/{}"  # requests moved to the queue of that tier
TIER_REFUSED: Final = "tiers/refused"  # pages that failed at their tier and could not step up
TIER_REQUESTS: Final = "tiers/requests/{}"  # requests sent by tier
BLOCKED: Final = "blocks/{}"  # block pages by vendor
SEEDS: Final = "frontier/seeds"
SEEDS_BAD: Final = "frontier/seeds_bad"
RUNS_ENDED: Final = "frontier/runs_ended"  # that this worker was the first to see
WEBHOOKS: Final = "webhooks/delivered"
WEBHOOKS_FAILED: Final = "webhooks/failed"  # tries
SPANS: Final = "traces/spans"  # made
SPANS_LOST: Final = "traces/lost"  # made, and not taken by their receiver before the worker closed
STANDSTILLS: Final = "frontier/standstills"  # times that a callback blocked the event loop for too long
REDIS_ERRORS: Final = "frontier/redis_errors"

# extraction
FEEDS_BROKEN: Final = "extraction/feeds_broken"  # product feeds that were read up to a syntax error

# cookies of shared sessions
COOKIES_SET: Final = "cookies/set"
COOKIES_REFUSED: Final = "cookies/refused"  # too long, or their jar was full

# proxies, by pool
PROXY_REQUESTS: Final = "proxy/requests/{}"
PROXY_FAILURES: Final = "proxy/failures/{}"
PROXY_RETRIES: Final = "proxy/retries/{}"  # through a fresh proxy
PROXY_POSTPONED: Final = "proxy/postponed/{}"  # back to the frontier until a proxy is usable
PROXY_QUARANTINED: Final = "proxy/quarantined/{}"  # proxies quarantined by this worker
PROXY_SENT: Final = "proxy/sent_bytes/{}"
PROXY_RECEIVED: Final = "proxy/received_bytes/{}"
PROXY_COST: Final = "proxy/cost/{}"  # in the currency of the pool's prices
# robots.txt, besides Scrapy's robotstxt/*
ROBOTS_SHARED: Final = "robots/shared"  # files read from Redis instead of the site
ROBOTS_UNREACHABLE: Final = "robots/unreachable"  # fetches that failed, so that nothing is allowed for now
ROBOTS_POSTPONED: Final = "robots/postponed"  # pages put back until their robots.txt is known

# downloads
CONNECTIONS: Final = "handler/connections"  # opened; the other requests used kept connections
CONNECTIONS_STALE: Final = "handler/stale_connections"  # kept ones that were closed before a response came
SESSIONS_RESUMED: Final = "handler/resumed_sessions"  # TLS sessions resumed on a new connection
ADDRESSES_REFUSED: Final = "guard/refused"  # hosts that resolve to addresses that must not be dialled

# conditional requests
CONDITIONAL_ASKED: Final = "conditional/asked"  # conditional requests for remembered pages
CONDITIONAL_UNCHANGED: Final = "conditional/unchanged"
CONDITIONAL_REMEMBERED: Final = "conditional/remembered"
CONDITIONAL_REFETCHED: Final = "conditional/refetched/{}"  # not_asked, not_stored, links_unreadable: fetched whole
CONDITIONAL_ERRORS: Final = "conditional/errors"  # pages fetched whole or not remembered because MongoDB was away

# items
ITEMS: Final = "items/{}"  # new, changed, unchanged, stale, spooled, rejected, duplicate, linked
ITEM_ISSUES: Final = "items/issues/{}"
FIELD_PRESENT: Final = "items/present/{}"  # by field; counted before an item may be rejected
FIELD_MISSING: Final = "items/missing/{}"
FIELD_INVALID: Final = "items/invalid/{}"
STORE_ERRORS: Final = "storage/errors"  # writes that MongoDB did not serve
STORE_OUTAGES: Final = "storage/outages"
STORE_AWAY: Final = "storage/away"  # 1 while MongoDB does not serve, 0 again after
SPOOLED: Final = "storage/spool/entries"  # written to local disk while MongoDB was away
REPLAYED: Final = "storage/spool/replayed"
SPOOL_BYTES: Final = "storage/spool/bytes"
SPOOL_LIMIT: Final = "storage/spool/limit_bytes"  # SPOOL_MAX_MB
SPOOL_OLDEST: Final = "storage/spool/oldest_timestamp_seconds"  # when its oldest file was last written; 0 = empty
SPOOL_DAMAGED: Final = "storage/spool/damaged_files"  # set aside because they could not be stored completely
CHANGES: Final = "storage/changes"  # records added to a change history

# browser
BROWSER_PAGES: Final = "browser/pages"
BROWSER_RESTARTS: Final = "browser/restarts/{}"  # by reason: died, hung, memory, runaway, pages
BROWSER_REFUSED: Final = "browser/refused"  # connections to addresses that must not be dialled
BROWSER_BLOCKED: Final = "browser/blocked/{}"  # blocked sub-resources by type
BROWSER_MEMORY: Final = "browser/memory_bytes"  # now

# attempts log
ATTEMPTS: Final = "attempts/logged"
ATTEMPTS_UNSAMPLED: Final = "attempts/unsampled"  # represented by others of the same second
ATTEMPTS_LOST: Final = "attempts/lost"  # MongoDB was away for too long

# archive
ARCHIVED: Final = "archive/pages/{}"  # response, revisit, unchanged (not written: same as the last one)
ARCHIVE_BYTES: Final = "archive/bytes"  # compressed, as written
ARCHIVE_FILES: Final = "archive/files"  # finished files
ARCHIVE_PRUNED: Final = "archive/pruned_files"
ARCHIVE_ERRORS: Final = "archive/errors"  # failed tries to write, index or upload
ARCHIVE_AWAY: Final = "archive/away"  # 1 while pages cannot be written, 0 again after
ARCHIVE_CUT: Final = "archive/requests_cut"  # pages archived without meta or callback, which cannot be stored

# scraping APIs, by provider
API_CALLS: Final = "api/calls/{}"
API_COST: Final = "api/cost/{}"  # in the provider's own unit
API_FAULTS: Final = "api/faults/{}"  # failed calls that paused a provider
