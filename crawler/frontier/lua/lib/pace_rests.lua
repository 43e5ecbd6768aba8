-- Rests: when the next request may follow a refused one.
-- The next try after a refusal comes after this share of the delay, growing by this factor, so often, then twice as
-- late each time.
local SOON, SOON_GROWTH, SWEEP = 0.05, 1.04, 14
-- A host that has refused everything so far: ms to the second try, growth of the first few, and of the others.
local FIRST_MS, FIRST, FIRST_GROWTH, GROWTH = 90, 10, 1.07, 3

-- The rules and the site ask for a rest of this many ms.
local function least_rest(h, retry_after)
  return math.max(h[FLOOR], h[CRAWL], retry_after)
end

-- A rest while a turn is looked for, where the rules or the site ask for long ones.
local function long_rest(h, p, step, jitter)
  if p[ROW] == 1 and p[NOISE] == SHARED then return h[DELAY] * LATER end
  local more = math.min(math.max(math.abs(p[ROW]) - LONG_SWEEP, 0), 50)
  return step * LONG_GROWTH ^ more * (1 + jitter * (p[ROW] == 1 and 1 / 30 or SPREAD))
end

-- How long the host is paused: its delay, doubled with each consecutive complaint. While a turn is looked for it is
-- short at first, and grows slowly; at least `step`.
local function rest_of(h, p, step, jitter)
  local before, new, turns, rest = math.abs(p[ROW]) - 1, only_refused(h, p), takes_turns(h, p)
  if (new or turns) and step > LONG_MS then
    rest = long_rest(h, p, step, jitter)
  elseif new then
    rest = FIRST_MS * FIRST_GROWTH ^ math.min(before, FIRST) * GROWTH ^ math.min(math.max(before - FIRST, 0), 30)
    rest = math.max(rest, step) * (1 + jitter / 20)
  elseif turns then
    rest = math.max(SOON * h[DELAY] * SOON_GROWTH ^ before, step)
    rest = rest * 2 ^ math.min(math.max(before - SWEEP + 1, 0), 30) * (1 + jitter / 30)
  else
    rest = h[DELAY] * 2 ^ math.min(before, 30)
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
  local looks = p[ROW] > 0 and (takes_turns(h, p) or only_refused(h, p))
  if looks and h[NEXT] <= wire + h[DELAY] + 1 then -- no later request has reserved it
    h[NEXT] = math.min(h[NEXT], math.max(wire + math.max(h[FLOOR], h[CRAWL]), h[BLOCKED]))
  end
end
