#!lua flags=allow-oom
-- put_off: return leases of pages whose requests found no room, to be tried again later, or once there is room;
-- uncharged.
-- KEYS[1]  the shard's tag
-- ARGV[1]  delay ms
-- ARGV[2...]  id and token (d, d) of each lease
-- Result: DONE or STALE of each. O(log delayed) each.
-- include: clock damage state tally hosts members queue records lose release
local records, ids = lookup_rows(2)
load_hosts_of(records, 0)
local at, result = now + ARGV[1], {}
for i, r in ipairs(records) do
  result[i] = STALE
  if r and r[TOKEN] and r[STREAM] ~= '' then
    result[i] = DONE
    release_unreported(r)
    end_lease(ids[i], r)
    local envelope = call('HGET', T .. ':body', ids[i])
    if envelope then
      delay_until(at, r[STREAM], r[HOST], member_of(ids[i], uncharged(r), r[STATUS], envelope), ':delayed:room')
      local t = tally(r[STREAM], r[GENERATION])
      t.leased, t.delayed = t.leased - 1, t.delayed + 1
    else
      lose(ids[i], r)
    end
  end
end
save()
return result
