#!lua flags=allow-oom
-- start: charge a delivery to requests that are being sent.
-- KEYS[1]  the shard's tag
-- ARGV[1]  '1' if they have just been sent
-- ARGV[2...]  id and token (d, d) of each lease
-- Result: per lease DONE, or STALE, also if the host is paused. O(1) each.
-- include: clock damage state hosts addresses records release start
local records, ids = lookup_rows(2)
local result = {}
load_hosts_of(records, #records)
for i, r in ipairs(records) do result[i] = start(r, ids[i], ARGV[1] == '1') end
save()
return result
