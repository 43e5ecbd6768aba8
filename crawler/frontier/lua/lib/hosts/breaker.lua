local NOTED, CLOSED = 1, -1 -- what a response did to the breaker; if it opened it: for how many ms

-- A host that answers only with faults or complaints is paused, twice as long each time; then one request probes it,
-- and any other response closes the breaker. Requests sent before the last opening say nothing new. Returns for how
-- many ms the breaker opened, CLOSED if it closed, else NOTED.
local function judge(h, p, wire, status, fault, complaint, jitter, retry_after)
  if wire < h[TRIPPED] then return NOTED end
  local refuses = math.abs(p[ROW]) >= BREAKER_FAULTS
    and rest_of(h, p, least_rest(h, retry_after or 0), 0.5) >= BREAKER_MS
  if fault or (complaint and refuses) then
    if fault then h[STREAK] = math.max(math.min(h[STREAK], 0) - 1, -BREAKER_FAULTS) end
    local opens = h[TRIPS] > 0 or h[STREAK] <= -BREAKER_FAULTS or (complaint and refuses)
    if BREAKER_FAULTS == 0 or not opens then return NOTED end
    local pause = math.min(BREAKER_MS * 2 ^ h[TRIPS], BREAKER_MAX_MS) * (1 + jitter / 10)
    h[TRIPS], h[TRIPPED], h[BLOCKED] = math.min(255, h[TRIPS] + 1), now, math.max(h[BLOCKED], math.floor(now + pause))
    return h[BLOCKED] - now
  end
  if status == 0 then return NOTED end
  h[STREAK] = 0
  if h[TRIPS] == 0 or refuses then return NOTED end
  h[TRIPS] = 0
  return CLOSED
end
