#!lua flags=allow-oom
-- start: charge a delivery to requests that go to the wire.
-- KEYS[1] the shard's tag. ARGV[1] msgpack array of {id, token}; ARGV[2] '1' when they have just gone out, which lets
-- the host's next request follow this one by the delay instead of the latest moment this one could have started.
-- Result: 1 per request, 0 where the token is stale. O(1) each.
-- include: clock state generations hosts queue leases
local handles, on_wire = cmsgpack.unpack(ARGV[1]), ARGV[2] == '1'
local result, changed = {}, {}
for i, r in ipairs(lookup(handles)) do
  if r and r.started == 0 then
    r.started, r.deliveries = now, math.min(255, r.deliveries + 1)
    if on_wire and r.released == 0 and host(r.host).next == r.reserved then
      local h = touch(r.host)
      h.next = now + h.delay
      r.reserved = h.next
      unsettled[r.host] = true
    end
    changed[#changed + 1], changed[#changed + 2] = handles[i][1], write_record(r)
  end
  result[i] = r and 1 or 0
end
if #changed > 0 then call('HSET', T .. ':infl', unpack(changed)) end
save_all()
return result
