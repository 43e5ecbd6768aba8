#!lua flags=allow-oom
-- ack: these requests are done, their effects are durable.
-- KEYS[1] the shard's tag. ARGV id, token of each.
-- Result: 1 per request, 0 where the token is stale: nothing changes then. O(log in flight) each.
-- include: clock state tally hosts queue leases seen
local records, ids = lookup(1, 2)
local result, gone = {}, {}
for i, r in ipairs(records) do
  result[i] = 0
  if r and not r.settled then
    result[i], r.settled = 1, true
    release_unreported(r)
    gone[#gone + 1] = ids[i]
    local t = tally(r.stream, r.generation)
    t.leased, t.done = t.leased - 1, t.done + 1
    if DEDUPE == 'window' then
      leave(seen_set(r.stream, r.generation), call('HGET', T .. ':body', ids[i]), now)
    end
  end
end
forget_leases(gone)
save_seen()
save_all()
return result
