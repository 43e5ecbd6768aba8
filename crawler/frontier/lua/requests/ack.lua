#!lua flags=allow-oom
-- ack: these requests are done and their effects durable.
-- KEYS[1]  the shard's tag
-- ARGV[1...]  id and token (d, d) of each lease
-- Result: per lease DONE, or STALE (also for a mere slot): then nothing changes. O(log in flight) each.
-- include: clock damage state tally dead_again hosts addresses records release
-- include window: seen
-- include: ack
local records, ids = lookup_rows(1)
local result = {}
load_hosts_of(records, 0)
for i, r in ipairs(records) do result[i] = ack(r, ids[i]) end
save()
return result
