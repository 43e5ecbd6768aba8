-- Charges a delivery; STALE if the token is. on_wire: it has just been sent, so the host's next request may follow it
-- by the delay, instead of following the latest moment it could have started. Otherwise STALE also if the host has
-- pushed back since the lease: then it must not be sent.
local function is_blocked(name)
  local address = address_of(name)
  return host(name)[BLOCKED] > now or (address and host(address)[BLOCKED] > now)
end

local function start(r, id, on_wire)
  if not r then return STALE end
  if r[STARTED] == 0 then
    if not on_wire and is_blocked(r[HOST]) then return STALE end
    r[STARTED], r[DELIVERIES] = now, math.min(255, r[DELIVERIES] + 1)
    changed_records[id] = r
  end
  if on_wire and r[RELEASED] == 0 and r[RESERVED] > r[START_BY] then -- otherwise its host has no delay
    local h, address = host(r[HOST]), address_of(r[HOST])
    local a = address and host(address)
    if a and a[NEXT] == r[RESERVED] then a[NEXT], unsettled[address] = next_after(a, now, true), true end
    if h[NEXT] == r[RESERVED] then
      h[NEXT] = next_after(h, now, true)
      r[RESERVED], changed_records[id] = h[NEXT], r
      unsettled[r[HOST]] = true
    end
  end
  return DONE
end
