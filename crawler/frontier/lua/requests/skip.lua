#!lua flags=allow-oom
-- skip: acknowledge requests that were not sent, because a middleware dropped them, say: they spend nothing of budgets.
-- KEYS[1]  the shard's tag
-- ARGV[1...]  id and token (d, d) of each lease
-- Result: per lease DONE, or STALE (also for a mere slot): then nothing changes. O(log in flight) each.
-- include: clock damage state tally dead_again hosts addresses shares records budgets spend release
-- include window: seen
-- include: ack
local records, ids = lookup_rows(1)
local result = {}
load_hosts_of(records, 0)
for i, r in ipairs(records) do
  if r and r[TOKEN] then refund_request(r) end
  result[i] = ack(r, ids[i])
end
save()
return result
