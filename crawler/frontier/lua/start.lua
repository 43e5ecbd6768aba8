#!lua flags=allow-oom
-- start: charge a delivery to requests that go to the wire.
-- KEYS[1] the shard's tag. ARGV[1] '1' when they have just gone out, which lets the host's next request follow this one
-- by the delay instead of the latest moment this one could have started; ARGV[2...] id, token of each.
-- Result: 1 per request, 0 where the token is stale. O(1) each.
-- include: clock state tally hosts queue leases
local on_wire = ARGV[1] == '1'
local records, ids = lookup(2, 2)
local result, changed = {}, {}
for i, r in ipairs(records) do
  if r and r.started == 0 then
    r.started, r.deliveries = now, math.min(255, r.deliveries + 1)
    if on_wire and r.released == 0 then
      local h = host(r.host)
      if h.next == r.reserved then
        h.next = now + h.delay
        r.reserved = h.next
        unsettled[r.host] = true
      end
    end
    changed[#changed + 1], changed[#changed + 2] = ids[i], write_record(r)
  end
  result[i] = r and 1 or 0
end
if #changed > 0 then call('HSET', T .. ':infl', unpack(changed)) end
save_all()
return result
