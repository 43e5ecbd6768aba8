"""Names of Scrapy stats that more than one room uses; the metrics endpoint exports exactly these.

A counter ends in what is counted; `{}` is filled with a reason or an outcome.
"""

from __future__ import annotations

from typing import Final

# frontier
PUSHED: Final = "frontier/pushed"  # requests that this worker queued: new to their crawl
DUPLICATES: Final = "frontier/duplicates"  # requests that their crawl knew already
REFUSED: Final = "frontier/refused"  # start requests that the frontier had no room for, each time anew
WAITED_FOR_ROOM: Final = "frontier/waited_for_room"  # pages whose requests Redis had no room for
PUT_OFF: Final = "frontier/put_off"  # of waited_for_room those given back, to be fetched later
START_LOST: Final = "frontier/start_requests_lost"  # start requests that could not be queued or stored
DATA_LOST: Final = "frontier/data_lost"  # times that Redis was found emptied
DAMAGED: Final = "frontier/requests_damaged"  # requests of its spider that were lost to damage in Redis meanwhile
LEASED: Final = "frontier/leased"  # requests that were leased
ACKED: Final = "frontier/acked"  # pages that are done; gone ones included
NACKED: Final = "frontier/nacked"  # requests put back after a failure, in all
NACKED_FOR: Final = "frontier/nacked_for/{}"  # the same by reason
GIVEN_BACK: Final = "frontier/given_back"  # requests given back unsent, uncharged, as late or paused ones
BURIED: Final = "frontier/dead/{}"  # dead letters written, by reason
GONE: Final = "frontier/gone/{}"  # pages that their site refuses for good: done, and listed separately
UNSERIALISABLE: Final = "frontier/unserialisable"  # requests of pages that cannot be queued
RESTORED: Final = "frontier/restored"  # requests put back as they were queued: their present form cannot be stored
CREDENTIALS: Final = "frontier/credentials_cut"  # requests whose URL had a user name or password
BUDGET_DROPPED: Final = "frontier/budget_dropped"  # requests dropped as their run had spent its own budget
SCOPE_CUT: Final = "scope/cut/{}"  # links and pages that are out of scope, by rule
SITEMAPS_READ: Final = "sitemaps/read"  # sitemaps and feeds that were read
SITEMAP_NAMED: Final = "sitemaps/named/{}"  # what sitemaps name: pages, sitemaps, what was left out, lastmods
SCOPE_SESSIONS: Final = "scope/sessions"  # links from which a session id was taken
UNFETCHABLE: Final = "frontier/unfetchable"  # links that are not http or https URLs
STALE: Final = "frontier/stale_tokens"  # leases that another worker had when this one ended them
RETRIED: Final = "frontier/retried"  # requests put back to be tried again
RETRIES: Final = "retry/classes/{}"  # retries by failure class: crawler/policy/endings/failures.py
FAILURES: Final = "failures/{}"  # requests that ended with that failure class; permanent ones are done
BREAKER_OPENED: Final = "frontier/breaker_opened"  # hosts paused because they did not work
BREAKER_CLOSED: Final = "frontier/breaker_closed"  # hosts that work again
TIER_MOVES: Final = "tiers/moves/{}"  # requests moved to the queue of that tier
TIER_REFUSED: Final = "tiers/refused"  # pages that failed at their tier and could not step up
TIER_REQUESTS: Final = "tiers/requests/{}"  # requests sent by tier
BLOCKED: Final = "blocks/{}"  # block pages by vendor
SEEDS: Final = "frontier/seeds"  # start URLs taken in
SEEDS_BAD: Final = "frontier/seeds_bad"  # start URLs that became dead letters
RUNS_ENDED: Final = "frontier/runs_ended"  # runs whose end this worker saw first
WEBHOOKS: Final = "webhooks/delivered"  # events of runs that a receiver took
WEBHOOKS_FAILED: Final = "webhooks/failed"  # tries to tell a receiver that failed
SPANS: Final = "traces/spans"  # spans made
SPANS_LOST: Final = "traces/lost"  # spans made, and not taken by their receiver before the worker closed
STANDSTILLS: Final = "frontier/standstills"  # times that a callback blocked the event loop for too long
REDIS_ERRORS: Final = "frontier/redis_errors"  # calls that Redis did not answer, or refused

# extraction
FEEDS_BROKEN: Final = "extraction/feeds_broken"  # product feeds that were read up to a syntax error

# feed exports
FEED_ITEMS_LOST: Final = "feeds/items_lost"  # items that a feed (FEEDS, -o) could not be given, as on a full disk

# media pipelines
MEDIA_BROKEN: Final = "media/broken_urls"  # URLs of files and images that are none, whose items are stored without

# cookies of shared sessions
COOKIES_SET: Final = "cookies/set"  # cookies stored in a shared jar
COOKIES_REFUSED: Final = "cookies/refused"  # cookies that are too long, or whose jar was full

# proxies, by pool
PROXY_REQUESTS: Final = "proxy/requests/{}"  # attempts through a proxy
PROXY_FAILURES: Final = "proxy/failures/{}"  # attempts that failed at or behind the proxy
PROXY_RETRIES: Final = "proxy/retries/{}"  # attempts repeated through a fresh proxy
PROXY_POSTPONED: Final = "proxy/postponed/{}"  # requests back in the frontier until a proxy is usable
PROXY_QUARANTINED: Final = "proxy/quarantined/{}"  # proxies quarantined by this worker
PROXY_SENT: Final = "proxy/sent_bytes/{}"  # bytes of HTTP messages sent
PROXY_RECEIVED: Final = "proxy/received_bytes/{}"  # bytes of HTTP messages received
PROXY_COST: Final = "proxy/cost/{}"  # what they cost, in the currency of the pool's prices
# robots.txt, besides Scrapy's robotstxt/*
ROBOTS_SHARED: Final = "robots/shared"  # files read from Redis instead of the site
ROBOTS_UNREACHABLE: Final = "robots/unreachable"  # fetches that failed, so that nothing is allowed for now
ROBOTS_POSTPONED: Final = "robots/postponed"  # pages put back until their robots.txt is known

# downloads
CONNECTIONS: Final = "handler/connections"  # connections opened; the other requests used kept connections
CONNECTIONS_STALE: Final = "handler/stale_connections"  # kept ones that were closed before a response came
SESSIONS_RESUMED: Final = "handler/resumed_sessions"  # TLS sessions resumed on a new connection
ADDRESSES_REFUSED: Final = "guard/refused"  # hosts that resolve to addresses that must not be dialled

# conditional requests
CONDITIONAL_ASKED: Final = "conditional/asked"  # conditional requests for remembered pages
CONDITIONAL_UNCHANGED: Final = "conditional/unchanged"  # answered 304: not parsed again
CONDITIONAL_REMEMBERED: Final = "conditional/remembered"  # pages whose version was noted for the next crawl
CONDITIONAL_REFETCHED: Final = "conditional/refetched/{}"  # answers not accepted: not_asked, not_stored, status_412 ...
CONDITIONAL_ERRORS: Final = "conditional/errors"  # pages fetched whole or not remembered because MongoDB was away

# items
ITEMS: Final = "items/{}"  # items by result: new, changed, unchanged, stale, spooled, rejected, duplicate, linked
ITEM_ISSUES: Final = "items/issues/{}"  # items with an issue, by its name
FIELD_PRESENT: Final = "items/present/{}"  # items by field that they have; counted before an item may be rejected
FIELD_MISSING: Final = "items/missing/{}"  # items by field that is None or empty
FIELD_INVALID: Final = "items/invalid/{}"  # items by field that has an issue
CONTESTED: Final = "storage/contested"  # items that take the place of those of another page, which states their URL
STORE_ERRORS: Final = "storage/errors"  # writes that MongoDB did not serve
STORE_OUTAGES: Final = "storage/outages"  # times that MongoDB went away
STORE_AWAY: Final = "storage/away"  # 1 while MongoDB does not serve, 0 again after
SPOOLED: Final = "storage/spool/entries"  # items written to local disk while MongoDB was away
REPLAYED: Final = "storage/spool/replayed"  # items of the spool that were stored
SPOOL_BYTES: Final = "storage/spool/bytes"  # of items that wait on disk now
SPOOL_LIMIT: Final = "storage/spool/limit_bytes"  # what may wait there, SPOOL_MAX_MB
SPOOL_OLDEST: Final = "storage/spool/oldest_timestamp_seconds"  # when its oldest file was last written; 0 = empty
SPOOL_DAMAGED: Final = "storage/spool/damaged_files"  # files set aside because they could not be stored completely
CHANGES: Final = "storage/changes"  # records added to a change history
CHANGES_REFUSED: Final = "storage/changes_refused"  # changes that a change history refused, at each try

# browser
BROWSER_PAGES: Final = "browser/pages"  # pages loaded
BROWSER_RESTARTS: Final = "browser/restarts/{}"  # browsers replaced: died, hung, memory, runaway, flooded, pages
BROWSER_REFUSED: Final = "browser/refused"  # connections to addresses that must not be dialled
BROWSER_BLOCKED: Final = "browser/blocked/{}"  # blocked sub-resources by type
BROWSER_MEMORY: Final = "browser/memory_bytes"  # of its processes now

# attempts log
ATTEMPTS: Final = "attempts/logged"  # fetch attempts recorded
ATTEMPTS_UNSAMPLED: Final = "attempts/unsampled"  # attempts represented by others of the same second
ATTEMPTS_LOST: Final = "attempts/lost"  # attempts not recorded: MongoDB was away for too long

# archive
ARCHIVED: Final = "archive/pages/{}"  # pages: response, revisit, unchanged (not written: same as the last one)
ARCHIVE_BYTES: Final = "archive/bytes"  # of the archive, compressed, as written
ARCHIVE_FILES: Final = "archive/files"  # archive files that were finished
ARCHIVE_PRUNED: Final = "archive/pruned_files"  # files deleted for their age, or for the size of all
ARCHIVE_ERRORS: Final = "archive/errors"  # failed tries to write, index, upload or delete
ARCHIVE_AWAY: Final = "archive/away"  # 1 while pages cannot be written, 0 again after
ARCHIVE_CUT: Final = "archive/requests_cut"  # pages archived without meta or callback, which cannot be stored

# scraping APIs, by provider
API_CALLS: Final = "api/calls/{}"  # calls made
API_COST: Final = "api/cost/{}"  # what they cost, in the provider's own unit
API_FAULTS: Final = "api/faults/{}"  # failed calls that paused a provider
