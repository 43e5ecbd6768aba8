#!lua flags=allow-oom
-- start: charge a delivery to requests before they are sent; what has just been sent is told by settle.
-- KEYS[1]  the shard's tag
-- ARGV[1...]  id and token (d, d) of each lease
-- Result: per lease DONE, or STALE, also if the host is paused. O(1) each.
-- include: clock damage state hosts addresses records release start
local records, ids = lookup_rows(1)
local result = {}
load_hosts_of(records, #records)
for i, r in ipairs(records) do result[i] = start(r, ids[i], false) end
save()
return result
