#!lua flags=allow-oom
-- give_back: return leases unused, to the place in the queue they had, uncharged.
-- KEYS[1] the shard's tag. ARGV ids, then their tokens.
-- Result: 1 per request, 0 where the token is stale. O(log queue) each.
-- include: clock state tally hosts members queue records release requeue
local records, ids = lookup_handles(1)
load_hosts_of(records)
local result, gone, settled = {}, {}, {}
for i, r in ipairs(records) do
  result[i] = 0
  if r and not settled[ids[i]] then
    result[i], settled[ids[i]] = 1, true
    release_unreported(r)
    gone[#gone + 1] = ids[i]
    if r[STREAM] ~= '' then requeue(ids[i], r, uncharged(r), call('HGET', T .. ':body', ids[i])) end
  end
end
forget_leases(gone)
flush_queue()
save_hosts()
save_tallies()
save_state()
return result
