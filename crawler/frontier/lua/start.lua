#!lua flags=allow-oom
-- start: charge a delivery to requests that go to the wire.
-- KEYS[1]  the shard's tag
-- ARGV[1]  '1' when they have just gone out
-- ARGV[2...]  id and token (d, d) of each lease
-- Result: of each DONE, or STALE, also where the host is to be left alone. O(1) each.
-- include: clock damage state hosts records release start
local records, ids = lookup_rows(2)
local result = {}
load_hosts_of(records, #records)
for i, r in ipairs(records) do result[i] = start(r, ids[i], ARGV[1] == '1') end
save()
return result
