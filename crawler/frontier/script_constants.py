"""Constants that Python and the scripts have in common: a script has them by their names, as it has those that
`FrontierConfig` makes of settings."""

from __future__ import annotations

from typing import Final

SCHEMA: Final = 2  # version of the data in Redis; others are refused. Raise it with each change of the layout
SEQ_PER_MS: Final = 64  # ids begin at the time in ms, times this, where the state of a shard was lost alone
SUSPECT_DELIVERIES: Final = 2  # unfinished deliveries after which a request is leased alone
RANK_MS: Final = 604_800_000  # by which the score of a request grows with each rank, in a run with a page limit
STATED_MS: Final = 300_000  # for which a budget holds unless it is stated again
BLOOM_PAGE_BITS: Final = 32_768  # a page is 4 KB: the most memory that a push allocates
MOST_BUCKETS: Final = 67_108_864  # of a generation on a shard: a larger number may keep a script busy for ever
GENERATIONS_AT_ONCE: Final = 100  # in one answer of `stats`
RUNS_AT_ONCE: Final = 250  # records in one answer of `runs`: each costs some microseconds
ADDRESS: Final = "ip:"  # in front of an IP address: the name of its record among the hosts
REMOVED: Final = "/removed"  # behind the name of a schedule that is no more
# Flags of a report: another site linked here, or redirected; the request is not of the queue.
LINKED: Final = 16
REDIRECTED: Final = 32
BESIDE: Final = 48
