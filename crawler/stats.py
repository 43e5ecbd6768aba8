"""Names of Scrapy stats that more than one room writes or reads; the metrics endpoint exports exactly these.

A counter ends in what is counted; `{}` is filled with a reason or an outcome.
"""

from __future__ import annotations

from typing import Final

# frontier
PUSHED: Final = "frontier/pushed"
DUPLICATES: Final = "frontier/duplicates"
REFUSED: Final = "frontier/refused"
WAITED_FOR_ROOM: Final = "frontier/waited_for_room"  # pages whose requests Redis had no room for
PUT_OFF: Final = "frontier/put_off"  # of these, given back to be fetched again
START_LOST: Final = "frontier/start_requests_lost"  # requests without a page that a worker could not store to its end
LEASED: Final = "frontier/leased"
ACKED: Final = "frontier/acked"
NACKED: Final = "frontier/nacked"  # in all
NACKED_FOR: Final = "frontier/nacked_for/{}"
GIVEN_BACK: Final = "frontier/given_back"
BURIED: Final = "frontier/dead/{}"
GONE: Final = "frontier/gone/{}"  # pages that their site refuses for good: done, and kept apart
UNSERIALISABLE: Final = "frontier/unserialisable"
RESTORED: Final = "frontier/restored"  # requests put back as they were queued: they cannot be stored as they are
CREDENTIALS: Final = "frontier/credentials_cut"  # requests whose URL had a user name or password
SCOPE_CUT: Final = "scope/cut/{}"  # links and pages that are out of scope, by rule
SCOPE_SESSIONS: Final = "scope/sessions"  # links from which a session id was taken
UNFETCHABLE: Final = "frontier/unfetchable"  # links to what is no http or https address
STALE: Final = "frontier/stale_tokens"
RETRIED: Final = "frontier/retried"
RETRIES: Final = "retry/classes/{}"  # tries again by class of failure: crawler/policy/failures.py
FAILURES: Final = "failures/{}"  # requests that ended in a failure of that class; permanent ones are done
BREAKER_OPENED: Final = "frontier/breaker_opened"  # hosts left alone because they did not work
BREAKER_CLOSED: Final = "frontier/breaker_closed"
TIER_MOVES: Final = "tiers/moves/{}"  # requests moved to the queue of that tier
TIER_REFUSED: Final = "tiers/refused"  # pages that failed at their tier and may not step up
TIER_REQUESTS: Final = "tiers/requests/{}"  # requests sent by tier
BLOCKED: Final = "blocks/{}"  # block pages by vendor
SEEDS: Final = "frontier/seeds"
SEEDS_BAD: Final = "frontier/seeds_bad"
RUNS_ENDED: Final = "frontier/runs_ended"  # that this worker was the first to see
STANDSTILLS: Final = "frontier/standstills"  # times that a callback held up the event loop beyond measure
REDIS_ERRORS: Final = "frontier/redis_errors"

# extraction
FEEDS_BROKEN: Final = "extraction/feeds_broken"  # product feeds that were read up to a mistake in them

# cookies of shared sessions
COOKIES_SET: Final = "cookies/set"
COOKIES_REFUSED: Final = "cookies/refused"  # too long, or no room in their jar

# proxies, by pool
PROXY_REQUESTS: Final = "proxy/requests/{}"
PROXY_FAILURES: Final = "proxy/failures/{}"
PROXY_RETRIES: Final = "proxy/retries/{}"  # through a fresh proxy
PROXY_POSTPONED: Final = "proxy/postponed/{}"  # back to the frontier, until a proxy can be used
PROXY_QUARANTINED: Final = "proxy/quarantined/{}"  # proxies set aside by this worker
PROXY_SENT: Final = "proxy/sent_bytes/{}"
PROXY_RECEIVED: Final = "proxy/received_bytes/{}"
PROXY_COST: Final = "proxy/cost/{}"  # in the money of the pool's prices
# robots.txt, beside Scrapy's robotstxt/*
ROBOTS_SHARED: Final = "robots/shared"  # files read from Redis instead of the site
ROBOTS_UNREACHABLE: Final = "robots/unreachable"  # fetches after which nothing is allowed for now
ROBOTS_POSTPONED: Final = "robots/postponed"  # pages put back until their robots.txt is known

# downloads
CONNECTIONS: Final = "handler/connections"  # opened; the difference to the requests were kept alive
CONNECTIONS_STALE: Final = "handler/stale_connections"  # kept ones that were closed before a request could be answered
SESSIONS_RESUMED: Final = "handler/resumed_sessions"  # TLS sessions that went on over a new connection
ADDRESSES_REFUSED: Final = "guard/refused"  # hosts that stand for addresses which must not be dialled

# conditional requests
CONDITIONAL_ASKED: Final = "conditional/asked"  # pages that were remembered, and asked whether they have changed
CONDITIONAL_UNCHANGED: Final = "conditional/unchanged"
CONDITIONAL_REMEMBERED: Final = "conditional/remembered"
CONDITIONAL_REFETCHED: Final = "conditional/refetched/{}"  # whole: 304 was no answer (not_asked, not_stored)
CONDITIONAL_ERRORS: Final = "conditional/errors"  # pages asked for whole, or not remembered: MongoDB was away

# items
ITEMS: Final = "items/{}"  # new, changed, unchanged, stale, spooled, rejected, duplicate, linked
ITEM_ISSUES: Final = "items/issues/{}"
FIELD_PRESENT: Final = "items/present/{}"  # by field; a page's items are counted before they may be rejected
FIELD_MISSING: Final = "items/missing/{}"
FIELD_INVALID: Final = "items/invalid/{}"
STORE_ERRORS: Final = "storage/errors"  # attempts that MongoDB did not serve
STORE_OUTAGES: Final = "storage/outages"
STORE_AWAY: Final = "storage/away"  # 1 while MongoDB does not serve, 0 again after
SPOOLED: Final = "storage/spool/entries"  # put on local disk while MongoDB was away
REPLAYED: Final = "storage/spool/replayed"
SPOOL_BYTES: Final = "storage/spool/bytes"
SPOOL_LIMIT: Final = "storage/spool/limit_bytes"  # SPOOL_MAX_MB
SPOOL_OLDEST: Final = "storage/spool/oldest_timestamp_seconds"  # when its oldest file was last written; 0 = empty
SPOOL_DAMAGED: Final = "storage/spool/damaged_files"  # set aside, because not all of them could be stored
CHANGES: Final = "storage/changes"  # records added to a change history

# browser
BROWSER_PAGES: Final = "browser/pages"
BROWSER_RESTARTS: Final = "browser/restarts/{}"  # died, hung, memory, runaway, pages
BROWSER_REFUSED: Final = "browser/refused"  # connections to addresses that must not be dialled
BROWSER_BLOCKED: Final = "browser/blocked/{}"  # sub-resources by type
BROWSER_MEMORY: Final = "browser/memory_bytes"  # now

# attempts log
ATTEMPTS: Final = "attempts/logged"
ATTEMPTS_UNSAMPLED: Final = "attempts/unsampled"  # others of their second stand for them
ATTEMPTS_LOST: Final = "attempts/lost"  # MongoDB was away for too long

# archive
ARCHIVED: Final = "archive/pages/{}"  # response, revisit, unchanged (not written: the last one is the same)
ARCHIVE_BYTES: Final = "archive/bytes"  # compressed, as written
ARCHIVE_FILES: Final = "archive/files"  # finished and kept
ARCHIVE_PRUNED: Final = "archive/pruned_files"
ARCHIVE_ERRORS: Final = "archive/errors"  # tries to write, index or upload that failed
ARCHIVE_AWAY: Final = "archive/away"  # 1 while pages cannot be written, 0 again after
ARCHIVE_CUT: Final = "archive/requests_cut"  # pages whose meta or callback cannot be stored

# scraping APIs, by provider
API_CALLS: Final = "api/calls/{}"
API_COST: Final = "api/cost/{}"  # in the provider's own unit
API_FAULTS: Final = "api/faults/{}"  # calls after which a provider was left alone
