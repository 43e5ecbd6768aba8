#!lua flags=allow-oom
-- renew: prolong leases, unless a request has been on the wire for longer than the hard cap.
-- KEYS[1] the shard's tag. ARGV[1] '1' while storage is down: the time since the last renewal does not count towards
-- that cap; ARGV[2...] id and token (d, d) of each.
-- Result: 1 per request, 0 where the token is stale or the cap is passed. O(log in flight) each.
-- include: clock state records
local suspended = ARGV[1] == '1'
local records, ids = lookup_rows(2)
local result = {}
for i, r in ipairs(records) do
  if r and suspended and r[STARTED] > 0 then
    local renewed = call('ZSCORE', T .. ':lease', ids[i]) - LEASE_MS
    r[STARTED] = r[STARTED] + now - math.max(renewed, r[STARTED])
    call('HSET', T .. ':infl', ids[i], write_record(r))
  end
  result[i] = 0
  if r and (r[STARTED] == 0 or now - r[STARTED] < HARD_CAP_MS) then
    call('ZADD', T .. ':lease', now + LEASE_MS, ids[i])
    result[i] = 1
  end
end
save_state()
return result
