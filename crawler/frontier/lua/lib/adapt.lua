-- How a host's responses change its pace and its breaker. One variable is learned, DELAY; how many requests are in
-- flight follows from it and from latency, as in AutoThrottle. docs/politeness.md names the sources of the rule.
--
-- Before any complaint each response halves the delay's distance to its floor (slow start). A complaint (429, 503, a
-- block page) raises the delay, once per flight; then it recovers like CUBIC's window: fast at first, slowly around the
-- pace of the last complaint (PEAK), ever faster beyond it. Responses count only if the pace was what delayed their
-- requests. Complaints that are rare and persist at lower paces are put to a trial at half the pace: if they persist
-- there too they are not about the pace, which is restored, and that share of them is tolerated from then on.
--
-- Where few requests a second are allowed, another fleet has more to do with a refusal than the pace: between two
-- requests there is room for one of the other's, or none. There a refused request is tried again soon, until it is
-- served: that moment is this fleet's turn from then on, and the time since the one before it is the new delay. Two
-- fleets come to rest at twice the delay of one, half a delay apart. Where the rules or Retry-After ask for long rests
-- a turn is found only roughly. There a fleet that is refused again right after it was served, though its delay had
-- been served before, is not alone: it doubles its delay. When it loses its turn it halves it, and looks for another.
--
-- State of a host that complained: T:pace HASH host -> these numbers (d), while HURT is not 0.
--   PEAK     delay that was complained of last, ms     GROWN    the way back to it: 0 begins, 1 is there
--   NOISE    share of complaints not about the pace, 0 if nobody knows, PACED: they are about the pace, SHARED: another
--            fleet is there, and takes turns
--   DEBT     complaints beyond that share, of late; if there is no such share, ms of rests in the present ROW
--                                                      ROW      complaints without a good answer between, below 0 after
--                                                               the first good one (it may be a block page yet)
--   REF      delay when the present trouble began, 0   TRYING   HALVED to see whether the pace matters, or DOWN to
--                                                               half by itself, which is as good
--   EVENTS, ANSWERS  complaints at lower paces than REF, and all answers, since REF or TRYING was set; where turns are
--            taken EVENTS is 1 if the present ROW began at a delay that had been served, and 2 more if it
--            began soon after the one before, and ANSWERS counts from its beginning
local PEAK, GROWN, NOISE, DEBT, ROW, REF, TRYING, EVENTS, ANSWERS = 1, 2, 3, 4, 5, 6, 7, 8, 9
local PACE_FORMAT, PACE_BYTES = '<ddddddddd', 72
local DAY_MS, SLACK_MS, LATE_MS = 86400000, 20, 1000
local LESS, HALF = 0.85, 0.5 -- factor of the rate after a complaint, and after one in slow start or one of many
-- Where the delay remembered is this long, a request is refused because it came right behind another fleet's, more than
-- because of the pace. Longer ones are no common limits.
local FEW_MS, FEWEST_MS = 400, 2000
-- Delays at which turns are taken: the one remembered is at least so long, or the present one, and below the last.
local TURN_MS, ONE_TURN_MS, TURNS_MS = 550, 950, 5000
local KEPT, CREEP = 0.87, 1.01 -- factor of the rate after a complaint that ends a probe; of the delay after another one
-- GROWN after a wide gap was found, when the delay is held, and when it has been held long enough to believe in it.
local FAR, HELD, SETTLED = -0.26, 0.5, 0.6
local FASTER, ALONE, PROBING = 6, 0.5, 4 -- growth before the delay is held, while it is by a fleet alone, and after it
-- The next try after a refusal comes after this share of the delay, growing by this factor, so often, then twice as
-- late each time.
local SOON, SOON_GROWTH, SWEEP = 0.05, 1.04, 14
local ROOM, WIDE, WIDEST = 3, 1.5, 2.15 -- refusals, and factors of the delay, that tell of another fleet
-- Least rests over so many ms are long. After the first of them the next turn comes a little later; then each rest is
-- up to so much longer, at random, so that they meet the other fleet's gaps, so often before they grow by a factor.
local LONG_MS, LATER, SPREAD, LONG_SWEEP, LONG_GROWTH = 200, 1.029, 0.1, 30, 1.25
-- There: factor of the delay for two fleets, GROWN then, answers until a refusal is a new one, factors of the delay
-- after a refusal of two fleets and of one, and the delay to begin with at a host that refused at first, ms.
local PAIR, PAIRED, AGAIN, LONG_CREEP, YIELD, LONG_FIRST_MS = 1.9, 0.4, 2, 1.012, 1.045, 1160
-- A host that has refused everything so far: ms to the second try, growth of the first few, and of the others.
local FIRST_MS, FIRST, FIRST_GROWTH, GROWTH = 90, 10, 1.07, 3
local LEAST_TURN_MS, MOST_TURN_MS = 1500, 2200 -- delay to begin with at a host that gave its first turn late
local BACK_MS, BACK_ANSWERS = 35000, 60 -- recovery to the peak takes at least this long and this many responses
local BEYOND = 3 -- times as fast beyond the peak
local LOWER = 1.15 -- a pace is lower if its delay is longer by this factor
local RARE, SOME, OFTEN, ENOUGH = 0.15, 0.25, 0.3, 3 -- shares of complaints, and how many are needed to tell
local TRIAL, TRIED_EVERY = 60, 3000 -- answers
-- A trial that would take longer waits until the pace is down to half anyway: in a minute another fleet takes what this
-- one leaves, and complaints go on whatever its pace.
local DEAR_MS = 20000
local HALVED, DOWN = 1, 2
local QUICKLY_MS, SLOWLY_MS = 60000, 600000 -- forgetting; slowly if only latency limits the pace
local PACED, SHARED, DENIED, MOST_NOISE, FADES, LEAST_NOISE = -1, -2, 0.05, 0.1, 512, 0.01
local ALLOWED, MOST_DEBT = 1.6, 5
local NOTED, CLOSED = 1, -1 -- what a response did to the breaker; if it opened it: for how many ms
local paces = {}

local function read_pace(raw)
  if #raw ~= PACE_BYTES then return false end
  local p = {struct.unpack(PACE_FORMAT, raw)}
  for field = PEAK, ANSWERS do
    if not (math.abs(p[field]) < 1e9) then return false end -- not a number, or not a plausible one
  end
  p.raw = raw
  return p[PEAK] >= 0 and p
end

local function pace_of(name, h)
  local p = paces[name]
  if not p then
    local raw = h[HURT] > 0 and call('HGET', T .. ':pace', name)
    p = raw and read_pace(raw)
    if raw and not p then set_aside(T .. ':pace ' .. name, raw) end
    p = p or {0, 0, 0, 0, 0, 0, 0, 0, 0}
    paces[name] = p
  end
  return p
end

local function save_paces()
  for name, p in pairs(paces) do
    if host(name)[HURT] == 0 then
      if p.raw then call('HDEL', T .. ':pace', name) end
    else
      local raw = struct.pack(PACE_FORMAT, unpack(p, PEAK, ANSWERS))
      if raw ~= p.raw then call('HSET', T .. ':pace', name, raw) end
    end
  end
end

-- How much later than allowed the last request was sent: a delay or more means that the pace did not limit it.
local function lateness(h)
  if h[PRIOR] == 0 then return 0 end
  local sent = h[NEXT] - h[DELAY]
  if sent > now then sent = sent - START_MS end -- it was not sent yet
  return math.max(0, sent - h[PRIOR])
end

local function is_paced(h)
  return lateness(h) <= h[DELAY] + SLACK_MS
end

-- The effective delay: late requests were further apart than the pace required.
local function gap(h)
  if h[DELAY] == 0 then return math.max(SLACK_MS, h[LATENCY] / math.max(1, h[INFLIGHT])) end
  local late = lateness(h)
  return late <= h[DELAY] and h[DELAY] or h[DELAY] + math.min(late, math.max(h[DELAY], LATE_MS))
end

-- The delay to remember: latency varies and says nothing about what the host allows.
local function remembered(p)
  return p[PEAK] / (1 - (1 - LESS) * (1 - p[GROWN]) ^ 3)
end

local function settle_delay(h, p)
  local floor = math.max(h[FLOOR], h[CRAWL])
  local most = math.max(THROTTLE_MAX_MS, floor)
  p[PEAK] = math.min(math.max(p[PEAK], floor), most)
  local delay = remembered(p)
  h[DELAY] = delay - least(h) < 0.5 and least(h) or math.min(delay, most)
end

-- Whether turns are taken there.
local function takes_turns(h, p)
  local delay = remembered(p)
  local few = delay >= ONE_TURN_MS or (p[PEAK] >= TURN_MS and p[NOISE] ~= PACED)
  return h[OK] > 0 and few and delay < TURNS_MS and p[NOISE] <= 0
end

local function only_refused(h, p)
  return h[OK] == 0 and p[PEAK] == 0 and p[NOISE] <= 0
end

-- The rules and the site ask for a rest of this many ms.
local function least_rest(h, retry_after)
  return math.max(h[FLOOR], h[CRAWL], retry_after)
end

local function aim(h, p, delay, grown)
  p[GROWN], p[PEAK] = grown, delay * (1 - (1 - LESS) * (1 - grown) ^ 3)
  settle_delay(h, p)
end

-- How many times as fast as CUBIC the pace grows.
local function speed(h, p)
  if not takes_turns(h, p) then return p[GROWN] < 1 and 1 or BEYOND end
  if p[GROWN] < HELD then return FASTER end
  return p[GROWN] >= 1 and PROBING or p[NOISE] == SHARED and 1 or ALONE
end

local function growth(h, p)
  return math.min(h[DELAY] / BACK_MS, 1 / BACK_ANSWERS) * speed(h, p)
end

-- Halfway between the delay that was refused and the one served before it.
local function between(h, p)
  local served = p[PEAK] / (1 - (1 - LESS) * (1 - p[GROWN] + growth(h, p)) ^ 3)
  return (gap(h) + math.max(h[DELAY], served)) / 2
end

-- A refusal where turns are taken: of a probe it says that the delay is too short. Else the turn was early by a little,
-- and the next try, a little later, is in time.
local function give_way(h, p, long)
  local shared = p[NOISE] == SHARED
  local held = p[GROWN] >= (long and HELD or SETTLED) and p[GROWN] < 1
  if shared then
    aim(h, p, long and math.max(remembered(p), p[PEAK]) * LONG_CREEP or remembered(p) * CREEP, HELD)
  elseif held then
    aim(h, p, remembered(p) * (long and YIELD or CREEP), p[GROWN])
  else
    aim(h, p, (long and between(h, p) or gap(h)) / KEPT, HELD)
  end
  p[TRYING], p[REF] = 0, 0
end

-- After long rests a good response tells only that there is another fleet, or that this one's turn is lost.
local function take_long_turn(h, p)
  local again = p[EVENTS] >= 2 or (p[EVENTS] == 1 and p[ROW] > 1)
  if p[NOISE] == SHARED and p[ROW] > 1 then
    p[NOISE] = 0
    aim(h, p, remembered(p) / PAIR, HELD)
  elseif p[NOISE] ~= SHARED and again and p[GROWN] >= HELD and p[DEBT] > (WIDE - 1) * h[DELAY] then
    p[NOISE] = SHARED
    aim(h, p, math.min(h[DELAY] + p[DEBT], PAIR * h[DELAY]), PAIRED)
  end
end

-- The first good response after several refusals tells how far apart requests may be.
local function take_turn(h, p)
  local new, shared = only_refused(h, p), p[NOISE] == SHARED
  if p[ROW] <= 0 or not (new or takes_turns(h, p)) then return end
  local long = p[DEBT] > LONG_MS * p[ROW]
  if long and not new then return take_long_turn(h, p) end
  if p[ROW] < ((shared or p[EVENTS] >= 2) and ROOM - 1 or ROOM) then return end
  if long then return aim(h, p, LONG_FIRST_MS, HELD) end
  local apart = math.min(h[DELAY] + p[DEBT], (shared and WIDE or WIDEST) * h[DELAY])
  if new then apart = math.min(math.max(p[DEBT], LEAST_TURN_MS), MOST_TURN_MS) end
  if new or (p[EVENTS] % 2 == 1 and apart > WIDE * h[DELAY]) then p[NOISE] = SHARED end
  aim(h, p, apart, p[ROW] < ROOM and HELD or FAR)
end

-- halfway: a pace lower than that of the last complaint moves the memory of it by half only, so that the way back from
-- there is fast.
local function slow_down(h, p, before, share, halfway)
  local known = h[HURT] > 0 and p[PEAK] > 0
  local peak = share == LESS and known and before > p[PEAK] and before * 2 / (1 + share) or before
  p[PEAK] = halfway and peak > p[PEAK] and math.sqrt(peak * p[PEAK]) or peak
  local away = (1 - share * p[PEAK] / before) / (1 - LESS)
  p[GROWN], p[DEBT] = 1 - away ^ (1 / 3), 0
  settle_delay(h, p)
end

-- The share of complaints that is tolerated.
local function put_up(p)
  return ALLOWED * math.max(p[NOISE], DENIED)
end

-- Starts counting responses at half the pace of `ref`, or less if complaints have brought it down to that.
local function begin_trial(h, p, ref, before)
  p[TRYING], p[EVENTS], p[ANSWERS] = before >= ref / HALF and DOWN or HALVED, 0, 0
  if p[TRYING] == DOWN then slow_down(h, p, before, LESS) else slow_down(h, p, ref, HALF) end
end

local function end_trial(p, noise)
  p[NOISE], p[REF], p[TRYING], p[EVENTS], p[ANSWERS], p[DEBT] = noise, 0, 0, 0, 0, 0
end

-- Evaluates a trial at half the pace: complaints are about the pace if they are frequent (still too fast) or nearly
-- gone; otherwise they are not, and the pace is restored. Never after a few responses: complaints come in bursts while
-- another fleet at the same site probes for its share.
local function weigh_trial(h, p)
  local complaints, answers = p[EVENTS], p[ANSWERS]
  local rare = complaints <= RARE * math.max(answers, TRIAL)
  if not rare then
    end_trial(p, PACED)
    slow_down(h, p, gap(h), LESS)
  elseif complaints >= ENOUGH and answers >= TRIAL then
    end_trial(p, math.max(DENIED, math.min(complaints / answers, MOST_NOISE)))
    p[PEAK] = 0
  elseif answers >= (complaints == 0 and 1 or 2) * TRIAL then
    if p[TRYING] == HALVED then p[GROWN] = 0 end
    end_trial(p, PACED)
    settle_delay(h, p)
  end
end

-- Counts a response. While complaints are tolerated the trial is repeated now and then.
local function weigh(h, p, complaint)
  p[ANSWERS], p[EVENTS] = p[ANSWERS] + 1, p[EVENTS] + complaint
  if p[TRYING] > 0 then return weigh_trial(h, p) end
  if p[NOISE] <= 0 then return end
  p[DEBT] = math.max(0, p[DEBT] + complaint - put_up(p))
  p[NOISE] = math.min(p[NOISE] + (complaint - p[NOISE]) / FADES, MOST_NOISE)
  if p[NOISE] < LEAST_NOISE then
    end_trial(p, 0)
  elseif p[DEBT] >= MOST_DEBT and p[EVENTS] > OFTEN * p[ANSWERS] then -- since the pace was restored
    end_trial(p, PACED)
    slow_down(h, p, gap(h), HALF)
  elseif p[DEBT] >= MOST_DEBT or p[ANSWERS] >= TRIED_EVERY then
    begin_trial(h, p, gap(h), 0)
  end
end

-- A host that refused all requests so far says nothing of what it allows: slow start goes on at half the rate, as TCP's
-- after a lost SYN (RFC 5681, 3.1).
local function start_again(h)
  h[DELAY] = math.min(h[DELAY] / HALF, math.max(THROTTLE_MAX_MS, h[DELAY]))
end

-- Whether the pace is to blame, or has to be tried.
local function decrease(h, p, asked)
  if h[OK] == 0 and p[PEAK] == 0 and h[DELAY] > 0 then return start_again(h) end
  local before = gap(h)
  if p[REF] == 0 or before <= p[REF] then p[REF], p[EVENTS], p[ANSWERS] = before, 0, 0 end
  local lower = p[EVENTS] == 0 or before >= LOWER * p[REF]
  weigh(h, p, lower and 1 or 0)
  local often = p[EVENTS] >= ENOUGH and p[EVENTS] > OFTEN * p[ANSWERS]
  local is_new = p[PEAK] == 0 and (h[DELAY] > least(h) or h[DELAY] == 0)
  local some = p[EVENTS] >= ENOUGH and p[EVENTS] <= SOME * p[ANSWERS]
  if lower and some and not asked and (TRIAL * p[REF] <= HALF * DEAR_MS or before >= p[REF] / HALF) then
    begin_trial(h, p, p[REF], before)
  else
    local few = h[HURT] > 0 and p[PEAK] >= FEW_MS and p[PEAK] < FEWEST_MS
    slow_down(h, p, before, ((often and not few) or is_new) and HALF or LESS, few)
    if often then p[EVENTS], p[ANSWERS] = 0, 0 end
  end
end

-- The first complaint of a request; consecutive ones do not count against the pace after a pause longer than its delay.
local function blame(h, p, asked, denied)
  if not denied and takes_turns(h, p) then
    return p[ROW] == 1 and give_way(h, p, least_rest(h, asked) > LONG_MS)
  end
  if p[ROW] > 1 and not is_paced(h) then return end
  if asked > 0 and h[OK] > 0 then end_trial(p, PACED) end -- Retry-After says that the pace is to blame
  if denied and p[NOISE] == 0 then p[NOISE] = DENIED end -- some pages are denied at any pace
  if p[TRYING] > 0 or p[NOISE] > 0 then weigh(h, p, 1) else decrease(h, p, asked > 0) end
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

-- again: this request met a complaint before, so this one says nothing new about the pace. denied: by a block page,
-- whose report may have looked like a good response. Where turns are taken it is the moment that was refused, more than
-- the request: after long rests a repeated one counts too, until a delay is held.
local function complain(h, p, wire, retry_after, again, jitter, denied)
  if wire >= h[HURT] then -- requests in flight at the last complaint say nothing new
    local served, held = p[ROW] == 0, p[GROWN] >= HELD and p[TRYING] == 0
    local soon = p[ROW] <= 0 and held and p[ANSWERS] <= AGAIN
    p[ROW] = math.min((denied and math.abs(p[ROW]) or math.max(p[ROW], 0)) + 1, 255)
    local long = least_rest(h, retry_after) > LONG_MS
    local moment = long and p[GROWN] < HELD and not denied and takes_turns(h, p)
    if again ~= 1 or moment then blame(h, p, retry_after, denied) end
    h[HURT] = now
    if p[ROW] == 1 and takes_turns(h, p) then p[EVENTS], p[ANSWERS] = (served and 1 or 0) + (soon and 2 or 0), 0 end
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
  if p[GROWN] >= 1 and p[NOISE] <= 0 then p[REF] = 0 end -- the trouble has passed
end

local function start_slowly(h)
  local floor = least(h)
  local delay = is_paced(h) and (h[DELAY] + floor) / 2 or math.max(h[DELAY], floor)
  h[DELAY] = (THROTTLE == 0 or delay - floor < 0.5) and floor or delay
end

local function praise(h, p, wire, again)
  if wire < h[HURT] then return end
  take_turn(h, p)
  if p[NOISE] <= 0 then p[DEBT] = 0 end
  if p[PEAK] == 0 then start_slowly(h) end
  if h[HURT] == 0 then return end
  if p[ROW] ~= 0 then p[ROW] = p[ROW] > 0 and -p[ROW] or 0 end
  if p[TRYING] ~= HALVED then grow(h, p) end
  if p[PEAK] > 0 then settle_delay(h, p) end
  if again ~= 1 or takes_turns(h, p) then weigh(h, p, 0) end
  local is_free = remembered(p) - math.max(h[FLOOR], h[CRAWL]) < 0.5
  local is_over = h[DELAY] <= least(h) and p[NOISE] <= 0 and p[ROW] == 0
  if is_over and now - h[HURT] >= (is_free and QUICKLY_MS or SLOWLY_MS) then forget(h, p) end
end

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

-- While a turn is looked for, the rest alone says when the next request may be sent, beside the rules. Called when the
-- slot of a refused request, sent at wire, has been released.
local function hasten(h, p, wire)
  local looks = p[ROW] > 0 and (takes_turns(h, p) or only_refused(h, p))
  if looks and h[NEXT] <= wire + h[DELAY] + 1 then -- no later request has reserved it
    h[NEXT] = math.min(h[NEXT], math.max(wire + math.max(h[FLOOR], h[CRAWL]), h[BLOCKED]))
  end
end

local function count(h, good)
  if good then h[OK] = h[OK] + 1 else h[BAD] = h[BAD] + 1 end
  if h[OK] + h[BAD] > 1000 then h[OK], h[BAD] = math.floor(h[OK] / 2), math.floor(h[BAD] / 2) end
end

-- granted: when it was leased, as a refused connection has no wire start. fault: nil for a fault that says nothing
-- about the host.
local function adapt(h, p, wire, granted, latency, status, retry_after, fault, again, jitter)
  local complaint = status == 429 or status == 503
  if status > 0 then h[LATENCY] = h[LATENCY] == 0 and latency or math.floor(0.8 * h[LATENCY] + 0.2 * latency) end
  if complaint then
    complain(h, p, wire, retry_after, again, jitter)
  elseif status > 0 and status < 500 and status ~= 401 and status ~= 403 then
    praise(h, p, wire, again)
  end
  count(h, status > 0 and status ~= 429 and status < 500)
  if fault == nil then return NOTED end
  return judge(h, p, math.min(wire, granted), status, fault, complaint, jitter, retry_after)
end
