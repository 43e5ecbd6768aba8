#!lua flags=allow-oom
-- start: charge a delivery to requests that go to the wire.
-- KEYS[1] the shard's tag. ARGV[1] '1' when they have just gone out, which lets the host's next request follow this one
-- by the delay instead of the latest moment this one could have started; ARGV[2...] ids, then their tokens.
-- Result: 1 per request, 0 where the token is stale. O(1) each.
-- include: clock state hosts records
local on_wire = ARGV[1] == '1'
local records, ids = lookup_handles(2)
local result, changed = {}, {}
for i, r in ipairs(records) do
  if r and r[STARTED] == 0 then
    r[STARTED], r[DELIVERIES] = now, math.min(255, r[DELIVERIES] + 1)
    if on_wire and r[RELEASED] == 0 and r[RESERVED] > r[START_BY] then -- else its host has no delay
      local h = host(r[HOST])
      if h[NEXT] == r[RESERVED] then
        h[NEXT] = next_after(h, now, true)
        r[RESERVED] = h[NEXT]
        unsettled[r[HOST]] = true
      end
    end
    changed[#changed + 1], changed[#changed + 2] = ids[i], write_record(r)
  end
  result[i] = r and 1 or 0
end
if #changed > 0 then call('HSET', T .. ':infl', unpack(changed)) end
save_hosts()
save_state()
return result
