-- Charges a delivery; 0 where the token is stale. on_wire: it has just gone out, so that the host's next request may
-- follow it by the delay instead of the latest moment it could have started.
local function start(r, id, on_wire)
  if not r then return 0 end
  if r[STARTED] > 0 then return 1 end
  r[STARTED], r[DELIVERIES] = now, math.min(255, r[DELIVERIES] + 1)
  changed_records[id] = r
  if on_wire and r[RELEASED] == 0 and r[RESERVED] > r[START_BY] then -- else its host has no delay
    local h = host(r[HOST])
    if h[NEXT] == r[RESERVED] then
      h[NEXT] = next_after(h, now, true)
      r[RESERVED] = h[NEXT]
      unsettled[r[HOST]] = true
    end
  end
  return 1
end
