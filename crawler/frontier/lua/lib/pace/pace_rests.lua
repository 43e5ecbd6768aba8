-- Rests: when the next request may follow a refused one.
local DAY_MS = 86400000
local SOON, SOON_GROWTH = 0.05, 1.04 -- the next try comes after this share of the delay, growing by this factor
local FIRST_MS = 110 -- the same at a host that has refused everything so far
local FIRST, TRIES = 10, 13 -- so often, at such a host and else; from then on each rest is twice the one before
-- Up to this, which grows by the factor for so many tries: whoever has a turn leaves a tenth of the time to others, so
-- that it takes a few dozen tries at random moments to meet that. From then on rests double again.
local MORE_MS, MORE_GROWTH, MORE = 500, 1.05, 50
-- Where a whole number of long rests takes this much longer than the host needs between two requests, a try comes so
-- late after another fleet's request that the next one of that is refused: then one less, and longer, fill that time.
local MISFIT = 1.15
local LATER = 1.02 -- a turn that is left out: the next one comes by this factor later

-- The rules and the site ask for a rest of this many ms.
local function least_rest(h, retry_after)
  return math.max(h[FLOOR], h[CRAWL], retry_after)
end

-- While a turn is looked for rests are short at first, at least `step`, grow slowly for a minute or two, and then fast.
local function search_rest(h, step, before, new, jitter)
  local rest = (new and FIRST_MS or SOON * math.max(h[DELAY], TURN_MS)) * SOON_GROWTH ^ before
  local more = before - (new and FIRST or TRIES)
  if more > 0 then
    rest = math.min(rest * 2 ^ more, MORE_MS * MORE_GROWTH ^ math.min(more, MORE)) * 2 ^ math.max(more - MORE, 0)
  end
  return math.max(rest, step) * (1 + jitter / 10)
end

-- `step`, or more of it where that would not fit: see MISFIT.
local function fitting(p, step)
  if step <= LONG_MS then return step end
  local needed = KEPT * remembered(p) / (p[NOISE] == SHARED and PAIR or 1)
  local tries = math.ceil(needed / step)
  if tries < 3 or tries * step <= MISFIT * needed then return step end
  return needed / (tries - 1)
end

-- How long the host is paused: its delay, doubled with each consecutive complaint, unless turns are taken.
local function rest_of(h, p, step, jitter)
  local before, new, turns = math.abs(p[ROW]) - 1, is_new(h, p), takes_turns(h, p)
  local rest = h[DELAY] * 2 ^ math.min(before, 30)
  if turns and p[NOISE] == SHARED and p[ROW] == 1 and step > LONG_MS then
    rest = h[DELAY] * LATER
  elseif new or turns then
    rest = search_rest(h, new and step or fitting(p, step), before, new, jitter)
  end
  return math.min(rest, math.max(BREAKER_MAX_MS, h[DELAY]))
end

local function obey(h, retry_after, jitter)
  if retry_after <= 0 then return end
  h[BLOCKED] = math.max(h[BLOCKED], now + math.min(retry_after, DAY_MS) * (1 + jitter / 10))
end

local function rest(h, p, wire, retry_after, jitter)
  local late = overdue(h, p, wire)
  h[BLOCKED] = math.max(h[BLOCKED], wire + rest_of(h, p, least_rest(h, retry_after), jitter))
  obey(h, retry_after, jitter)
  if p[NOISE] <= 0 then p[DEBT] = math.min(p[DEBT] + late + math.max(h[BLOCKED] - wire, h[FLOOR]), DAY_MS) end
  h[BLOCKED] = math.floor(h[BLOCKED])
end

-- While a turn is looked for, and after the second of a pair, the rest alone says when the next request may be sent,
-- beside the rules. Called when the slot of a refused request, sent at wire, has been released.
local function hasten(h, p, wire)
  local looks = p.keeps_turn or (p[ROW] > 0 and (takes_turns(h, p) or is_new(h, p)))
  if looks and h[NEXT] <= next_after(h, wire) + 1 then -- no later request has reserved it
    h[NEXT] = math.min(h[NEXT], math.max(wire + floor_of(h), h[BLOCKED]))
  end
end
