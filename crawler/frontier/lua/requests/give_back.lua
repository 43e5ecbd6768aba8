#!lua flags=allow-oom
-- give_back: return unused leases to their place in the queue, uncharged.
-- KEYS[1]  the shard's tag
-- ARGV[1...]  id and token (d, d) of each lease
-- Result: DONE or STALE of each. O(log queue) each.
-- include: clock damage state tally hosts addresses members shares pages queue records budgets spend lose release seen
-- include: control drop cancel requeue
local records, ids = lookup_rows(1)
load_hosts_of(records, 0)
local result = {}
for i, r in ipairs(records) do
  result[i] = STALE
  if r and r[TOKEN] then
    result[i] = DONE
    release_unreported(r)
    refund_request(r)
    end_lease(ids[i], r)
    if r[STREAM] ~= '' then requeue(ids[i], r, uncharged(r), whole(ids[i], call('HGET', T .. ':body', ids[i]))) end
  end
end
save()
return result
