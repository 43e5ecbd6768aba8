#!lua flags=allow-oom
-- ack: these requests are done, their effects are durable.
-- KEYS[1] the shard's tag. ARGV ids, then their tokens.
-- Result: 1 per request, 0 where the token is stale (or of a slot alone): nothing changes then. O(log in flight) each.
-- include: clock state tally hosts records release
-- include window: seen
local records, ids = lookup_handles(1)
load_hosts_of(records)
local result, gone, settled = {}, {}, {}
for i, r in ipairs(records) do
  result[i] = 0
  if r and r[STREAM] ~= '' and not settled[ids[i]] then
    result[i], settled[ids[i]] = 1, true
    release_unreported(r)
    gone[#gone + 1] = ids[i]
    local t = tally(r[STREAM], r[GENERATION])
    t.leased, t.done = t.leased - 1, t.done + 1
    if DEDUPE == 'window' then
      leave(seen_set(r[STREAM], r[GENERATION]), call('HGET', T .. ':body', ids[i]), now)
    end
  end
end
forget_leases(gone)
if DEDUPE == 'window' then save_seen() end
save_hosts()
save_tallies()
save_state()
return result
