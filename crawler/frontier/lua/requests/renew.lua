#!lua flags=allow-oom
-- renew: extend leases, unless a request has been on the wire for longer than the hard cap.
-- KEYS[1]  the shard's tag
-- ARGV[1]  '1' while storage is down: the time since the last renewal does not count towards the cap; 'room' for pages
-- that are done except for requests that find no room: as if never started, so that neither the cap nor a delivery
-- counts; else '0'
-- ARGV[2...]  id and token (d, d) of each lease
-- Result: per lease DONE, or STALE, also beyond the cap. O(log in flight) each.
-- include: clock damage state hosts addresses records release
local suspended, is_done = ARGV[1] == '1', ARGV[1] == 'room'
local records, ids = lookup_rows(2)
local result = {}
for i, r in ipairs(records) do
  if r and suspended and r[STARTED] > 0 then
    local expiry = call('ZSCORE', T .. ':lease', ids[i])
    local renewed = expiry and expiry - LEASE_MS or now -- lost: see lib/unindexed
    r[STARTED] = r[STARTED] + now - math.max(renewed, r[STARTED])
    call('HSET', T .. ':infl', ids[i], write_record(r))
  end
  if r and is_done and r[STARTED] > 0 and r[RELEASED] == 1 then
    r[DELIVERIES], r[STARTED] = uncharged(r), 0
    call('HSET', T .. ':infl', ids[i], write_record(r))
  end
  result[i] = STALE
  if r and (r[STARTED] == 0 or now - r[STARTED] < HARD_CAP_MS) then
    call('ZADD', T .. ':lease', now + LEASE_MS, ids[i])
    result[i] = DONE
  end
end
save()
return result
