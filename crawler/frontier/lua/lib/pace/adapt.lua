-- How a host's responses change its pace and its breaker. One variable is learned, DELAY; how many requests are in
-- flight follows from it and from latency, as in AutoThrottle. docs/pace.md names the sources of the rule.
--
-- Before any complaint each response halves the delay's distance to its floor (slow start). A complaint (429, 503, a
-- block page) raises the delay, once per flight; then it recovers like CUBIC's window: fast at first, slowly around the
-- pace of the last complaint (PEAK), ever faster beyond it. Responses count only if the pace was what delayed their
-- requests. Where complaints are rare: see pace_trials; where few requests a second are allowed: see pace_turns
-- and pace_pairs.
--
-- Where the delay remembered is this long, a request is refused because it came right behind another fleet's, more than
-- because of the pace: then refusals that are frequent do not halve it. Longer ones are no common limits.
local FEW_MS, FEWEST_MS = 400, 2000
local LOWER = 1.15 -- a pace is lower if its delay is longer by this factor
local AGAIN = 2 -- answers: a refusal after fewer comes soon after the last one
local FOLLOWS = 12 -- answers within which a second complaint follows a first one that is about the pace
local QUICKLY_MS, SLOWLY_MS = 60000, 600000 -- forgetting; slowly if only latency limits the pace

-- A first complaint in slow start may have nothing to do with the pace, which is still far from any limit: remembered,
-- it would hold the host there for minutes. Slow start goes on from half the rate; another one soon after is believed,
-- and one at a pace of turns, which are taken at once.
local function is_doubted(h, p)
  local starting = p[PEAK] == 0 and h[DELAY] > least(h) and h[DELAY] < PACED_TURN_MS
  return starting and (p[EVENTS] == 0 or p[ANSWERS] > FOLLOWS)
end

local function doubt(h, p)
  p[EVENTS], p[ANSWERS] = 1, 0
  h[DELAY] = math.min(h[DELAY] / HALF, math.max(THROTTLE_MAX_MS, h[DELAY]))
end

-- The next request was refused, too: what the first one told.
local function believe(h, p)
  local before = h[DELAY] * HALF
  p[REF], p[ANSWERS] = before, 1
  slow_down(h, p, before, HALF)
end

-- Counts a complaint at the delay `before`. Returns whether complaints are few though the pace has gone down since they
-- began, so that they may have nothing to do with it.
local function persists(h, p, before)
  if p[REF] <= 0 or before <= p[REF] then p[REF], p[EVENTS], p[ANSWERS] = before, 0, 0 end
  local lower = p[EVENTS] == 0 or before >= LOWER * p[REF]
  weigh(h, p, lower and 1 or 0)
  return lower and p[EVENTS] >= ENOUGH and p[EVENTS] <= SOME * p[ANSWERS]
end

local function give_in(h, p, before)
  local often = p[EVENTS] >= ENOUGH and p[EVENTS] > OFTEN * p[ANSWERS]
  local first = p[PEAK] == 0 and (h[DELAY] > least(h) or h[DELAY] == 0)
  local few = h[HURT] > 0 and p[PEAK] >= FEW_MS and p[PEAK] < FEWEST_MS
  slow_down(h, p, before, ((often and not few) or first) and HALF or LESS, few)
  if often then p[EVENTS], p[ANSWERS] = 0, 0 end
end

-- Whether the pace is to blame, or has to be tried. A host that refused all requests so far says nothing of what it
-- allows, since another fleet may have used that up: then slow start goes on, and only the rests grow.
local function decrease(h, p, asked)
  if h[OK] == 0 and p[PEAK] == 0 and h[DELAY] > 0 then return end
  if not asked and is_doubted(h, p) then return doubt(h, p) end
  local before = gap(h)
  if persists(h, p, before) and not asked then
    begin_trial(h, p, before, p[REF])
  else
    give_in(h, p, before)
  end
end

local function was_doubted(h, p)
  local alone = p[EVENTS] == 1 and p[ANSWERS] == 0 and p[NOISE] == 0 and p[TRYING] == 0
  return alone and p[ROW] == 2 and p[PEAK] == 0 and h[DELAY] > least(h)
end

-- The first complaint of a request; consecutive ones do not count against the pace after a pause longer than its delay.
local function blame(h, p, asked, denied)
  if was_doubted(h, p) then return believe(h, p) end
  if not denied and takes_turns(h, p) then
    return p[ROW] == 1 and give_way(h, p, asked)
  end
  if p[ROW] > 1 and not is_paced(h) then return end
  local unclear = p[NOISE] ~= PACED or p[TRYING] > 0
  if asked > 0 and h[OK] > 0 and unclear then end_trial(p, PACED) end -- Retry-After says that the pace is to blame
  if denied and p[NOISE] == 0 then p[NOISE] = DENIED end -- some pages are denied at any pace
  if p[TRYING] > 0 or p[NOISE] > 0 then weigh(h, p, 1) else decrease(h, p, asked > 0) end
end

-- How a row of refusals begins where turns are taken: what EVENTS says of it.
local function onset(p)
  if p[GROWN] < HELD or p[TRYING] > 0 then return 0 end
  if p[NOISE] == SHARED then return p[GROWN] >= 1 and PROBED or 0 end
  if p[ANSWERS] > AGAIN then return 0 end
  return is_quick(p) and OFTEN_QUICK or QUICK
end

-- again: this request met a complaint before, so this one says nothing new about the pace. denied: by a block page,
-- whose report may have looked like a good response.
local function complain(h, p, wire, retry_after, again, jitter, denied)
  if is_second(h, p) and wire >= h[HURT] and not denied then return pair_refused(h, p, retry_after, jitter) end
  if wire >= h[HURT] then -- requests in flight at the last complaint say nothing new
    local how = onset(p)
    p[ROW] = math.min((denied and math.abs(p[ROW]) or math.max(p[ROW], 0)) + 1, 255)
    if again ~= 1 then blame(h, p, retry_after, denied) end
    h[HURT] = now
    if p[ROW] == 1 and takes_turns(h, p) then p[EVENTS], p[ANSWERS] = how, 0 end
  end
  rest(h, p, wire, retry_after, jitter)
end

local function forget(h, p)
  h[HURT] = 0
  for field = PEAK, ANSWERS do p[field] = 0 end
end

-- A good response recovers the pace by a step, if the pace was what delayed its request.
local function grow(h, p)
  if is_paced(h) and h[DELAY] > least(h) then p[GROWN] = p[GROWN] + growth(h, p) end
  if p[GROWN] >= 2 and p[NOISE] == SHARED then p[NOISE] = 0 end -- the other fleet has gone
  if p[GROWN] >= 1 and p[NOISE] <= 0 then p[REF] = math.min(p[REF], 0) end -- the trouble has passed
end

local function start_slowly(h)
  local floor = least(h)
  local delay = is_paced(h) and (h[DELAY] + floor) / 2 or math.max(h[DELAY], floor)
  h[DELAY] = (THROTTLE == 0 or delay - floor < 0.5) and floor or delay
end

local function praise(h, p, wire, again)
  if wire < h[HURT] then return end
  if is_second(h, p) then pair_served(h, p) end
  take_turn(h, p, wire)
  if p[NOISE] <= 0 then p[DEBT] = 0 end
  if p[PEAK] == 0 then start_slowly(h) end
  if h[HURT] == 0 then return end
  if p[ROW] ~= 0 then p[ROW] = p[ROW] > 0 and -p[ROW] or 0 end
  if p[TRYING] <= 0 then grow(h, p) end
  if p[PEAK] > 0 then settle_delay(h, p) end
  if again ~= 1 or takes_turns(h, p) then weigh(h, p, 0) end
  local is_free = remembered(p) - floor_of(h) < 0.5
  local is_over = h[DELAY] <= least(h) and p[NOISE] <= 0 and p[ROW] == 0
  if is_over and now - h[HURT] >= (is_free and QUICKLY_MS or SLOWLY_MS) then forget(h, p) end
end

local function count(h, good)
  if good then h[OK] = h[OK] + 1 else h[BAD] = h[BAD] + 1 end
  if h[OK] + h[BAD] > 1000 then h[OK], h[BAD] = math.floor(h[OK] / 2), math.floor(h[BAD] / 2) end
end

-- granted: when it was leased, as a refused connection has no wire start. fault: nil for a fault that says nothing
-- about the host.
local function adapt(h, p, wire, granted, latency, status, retry_after, fault, again, jitter)
  local complaint = status == 429 or status == 503
  note_pair(p)
  if status > 0 then h[LATENCY] = h[LATENCY] == 0 and latency or math.floor(0.8 * h[LATENCY] + 0.2 * latency) end
  if complaint then
    complain(h, p, wire, retry_after, again, jitter)
  elseif status > 0 and status < 500 and status ~= 401 and status ~= 403 then
    praise(h, p, wire, again)
  end
  count(h, status > 0 and status ~= 429 and status < 500)
  if fault == nil then return NOTED end
  fault = fault and not (complaint and takes_turns(h, p)) -- a search for a turn is refused often
  return judge(h, p, math.min(wire, granted), status, fault, complaint, jitter, retry_after)
end
