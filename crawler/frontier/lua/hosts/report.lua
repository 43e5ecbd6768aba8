#!lua flags=allow-oom
-- report: a response came (or none will): free the host's slot, space the next request from this one's wire start, and
-- adapt the host's pace. The lease itself continues until ack, so slow storage never holds a host.
-- KEYS[1]  the shard's tag
-- ARGV[1]  a random number in [0, 1)
-- ARGV[2...]  reports, as lib/report reads them
-- Result: one number per report, see lib/report. O(streams of the host) each.
-- include: clock damage state hosts addresses records release
-- include: pace pace_turns pace_trials pace_rests pace_pairs breaker adapt report
local jitter, result = tonumber(ARGV[1]), {}
local records, ids = lookup_rows(2)
load_hosts_of(records, 0)
for i, r in ipairs(records) do result[i] = report(r, ids[i], ARGV[i + 1], jitter) end
save()
return result
