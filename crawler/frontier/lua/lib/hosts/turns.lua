-- Turns of a host h, and of its address a (nil if it stands alone).

-- Reserves the next turn of both for one request that starts within START_MS; now, if neither has a delay. before: its
-- last reservation, which this one replaces.
local function reserve(h, a, before)
  local delay = a and math.max(h[DELAY], a[DELAY]) or h[DELAY]
  local at = delay > 0 and now + START_MS + delay or now
  if delay > 0 and h[NEXT] ~= before then h[PRIOR] = h[NEXT] end
  h[NEXT] = at
  if not a then return end
  if delay > 0 and a[NEXT] ~= before then a[PRIOR] = a[NEXT] end
  a[NEXT] = at
end
