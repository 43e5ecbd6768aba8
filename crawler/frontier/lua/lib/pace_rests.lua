-- Rests: when the next request may follow a refused one.
local DAY_MS = 86400000
local SOON, SOON_GROWTH = 0.05, 1.04 -- the next try comes after this share of the delay, growing by this factor
local FIRST_MS = 110 -- the same at a host that has refused everything so far
-- So often; from then on each rest is so many times as long as the one before: at such a host, with long rests, else.
local FIRST, FIRST_GROWTH, LONG, LONG_GROWTH, TRIES, GROWTH = 10, 3, 30, 1.5, 13, 2
local LATER = 1.029 -- a turn that is left out: the next one comes by this factor later

-- The rules and the site ask for a rest of this many ms.
local function least_rest(h, retry_after)
  return math.max(h[FLOOR], h[CRAWL], retry_after)
end

-- While a turn is looked for rests are short at first and grow slowly, at least `step`, and later fast.
local function search_rest(h, step, before, new, jitter)
  local often, factor = TRIES, GROWTH
  if new then often, factor = FIRST, FIRST_GROWTH end
  if step > LONG_MS then often, factor = LONG, LONG_GROWTH end
  local rest = (new and FIRST_MS or SOON * math.max(h[DELAY], TURN_MS)) * SOON_GROWTH ^ before
  return math.max(rest, step) * factor ^ math.min(math.max(before - often, 0), 50) * (1 + jitter / 10)
end

-- How long the host is paused: its delay, doubled with each consecutive complaint, unless turns are taken.
local function rest_of(h, p, step, jitter)
  local before, new, turns = math.abs(p[ROW]) - 1, is_new(h, p), takes_turns(h, p)
  local rest = h[DELAY] * 2 ^ math.min(before, 30)
  if turns and p[NOISE] == SHARED and p[ROW] == 1 and step > LONG_MS then
    rest = h[DELAY] * LATER
  elseif new or turns then
    rest = search_rest(h, step, before, new, jitter)
  end
  return math.min(rest, math.max(BREAKER_MAX_MS, h[DELAY]))
end

local function rest(h, p, wire, retry_after, jitter)
  h[BLOCKED] = math.max(h[BLOCKED], wire + rest_of(h, p, least_rest(h, retry_after), jitter))
  if retry_after > 0 then
    h[BLOCKED] = math.max(h[BLOCKED], now + math.min(retry_after, DAY_MS) * (1 + jitter / 10))
  end
  if p[NOISE] <= 0 then p[DEBT] = math.min(p[DEBT] + math.max(h[BLOCKED] - wire, h[FLOOR]), DAY_MS) end
  h[BLOCKED] = math.floor(h[BLOCKED])
end

-- While a turn is looked for, the rest alone says when the next request may be sent, beside the rules. Called when the
-- slot of a refused request, sent at wire, has been released.
local function hasten(h, p, wire)
  local looks = p[ROW] > 0 and (takes_turns(h, p) or is_new(h, p))
  if looks and h[NEXT] <= wire + h[DELAY] + 1 then -- no later request has reserved it
    h[NEXT] = math.min(h[NEXT], math.max(wire + math.max(h[FLOOR], h[CRAWL]), h[BLOCKED]))
  end
end
