#!lua flags=allow-oom
-- renew: prolong leases, unless a request has been on the wire for longer than the hard cap.
-- KEYS[1] the shard's tag. ARGV[1] msgpack array of {id, token}; ARGV[2] '1' while storage is down: that time does not
-- count towards the cap.
-- Result: 1 per request, 0 where the token is stale or the cap is passed. O(log in flight) each.
-- include: clock state generations hosts queue leases
local handles, suspended = cmsgpack.unpack(ARGV[1]), ARGV[2] == '1'
local result, changed = {}, {}
for i, r in ipairs(lookup(handles)) do
  local id = handles[i][1]
  if r and suspended and r.started > 0 then
    local renewed = call('ZSCORE', T .. ':lease', id) - LEASE_MS
    r.started = r.started + now - math.max(renewed, r.started)
    changed[#changed + 1], changed[#changed + 2] = id, write_record(r)
  end
  if r and (r.started == 0 or now - r.started < HARD_CAP_MS) then
    call('ZADD', T .. ':lease', now + LEASE_MS, id)
    result[i] = 1
  else
    result[i] = 0
  end
end
if #changed > 0 then call('HSET', T .. ':infl', unpack(changed)) end
save_all()
return result
