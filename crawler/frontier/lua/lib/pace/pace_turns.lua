-- Turns: where few requests a second are allowed, another fleet has more to do with a refusal than the pace, since
-- between two requests there is room for one of the other's, or none. There a refused request is tried again soon,
-- until it is served: that moment is this fleet's turn from then on, and the time since the one before it is the new
-- delay. Two fleets come to rest at twice the delay of one, half a delay apart, and whoever comes too early is refused,
-- not the other one. Where the rules or Retry-After ask for long rests a turn is found only roughly: there a fleet that
-- is refused in its turn leaves it out and comes a little later.
local TURN_MS, PACED_TURN_MS, TURNS_MS = 550, 950, 5000 -- delays at which they are taken: from, if PACED, and to
local LOST = 3 -- refusals in a row that tell of a host remembered as far too fast
local HELD, FAR, PAIRED = 0.5, -0.26, 0.4 -- GROWN of a delay that is held; after a wide gap; of one for two fleets
local BACK_MS, BACK_ANSWERS = 35000, 60 -- recovery to the peak takes at least this long and this many responses
local BEYOND = 3 -- times as fast beyond the peak
local EVEN_MS, LEAST_PULL = 150, 0.5 -- the delay that grows just so fast, and the least factor: see pull
local UNHELD, ALONE = 6, 0.5 -- the same where turns are taken: while no delay is held, and while one fleet holds it
local KEPT, CREEP, SHARED_CREEP = 0.87, 1.01, 1.015 -- rate after a refused probe; delay after other refusals
-- A delay of up to so many ms may be one for two fleets, where another one is refused at any moment: then a refused
-- probe makes it at most so much longer than its peak; a delay that is held is 2 % longer than that.
local PAIR_MS, RAISED = 2500, 1.05
-- From a delay that two fleets hardly need on, a refusal with Retry-After makes it longer by this share, divided by the
-- answers since the one before: the sooner that was, the more too short it is.
local ALONE_FROM_MS, SOONER = 2250, 0.25
local LONG_MS = 200 -- least rests over so many ms are long
local ALONE_MS, BOTH_MS = 1160, 2000 -- delays to begin with, for one fleet and for two
-- Where one request after the other is served only after so many ms of refusals, for so long together, the limit is
-- lower than turns are for; another fleet would leave one sooner now and then.
local SLOW_MS, SURE_MS, MOST_MS = 3000, 120000, 30000 -- at most so much of the last counts for each
local PAIR, WIDE = 1.9, 1.5 -- factor of the delay for two fleets, and the least that tells of another one
local MOST, MOST_SHARED = 2, 1.25 -- times a delay may grow at once; if the other fleet is known, it is long enough

-- What is remembered is few requests a second.
local function is_few(p)
  return remembered(p) >= PACED_TURN_MS or p[PEAK] >= (p[NOISE] == PACED and PACED_TURN_MS or TURN_MS)
end

-- A host that refuses again and again, and has refused at least what it served: what is remembered is far too fast.
local function is_lost(h, p)
  return not is_few(p) and p[ROW] >= LOST and h[BAD] >= h[OK]
end

local function takes_turns(h, p)
  return h[OK] > 0 and (is_few(p) or is_lost(h, p)) and remembered(p) < TURNS_MS and p[NOISE] <= 0
end

local function is_new(h, p)
  return h[OK] == 0 and p[PEAK] == 0 and p[NOISE] <= 0
end

-- A slower fleet grows faster, by the square root of its delay, so that two come to share a site whatever they began
-- with. Only where the pace is learned like this at all: longer delays belong to turns.
local function pull(h)
  return h[DELAY] < SPREAD_BELOW_MS and math.max((h[DELAY] / EVEN_MS) ^ 0.5, LEAST_PULL) or 1
end

-- How many times as fast as CUBIC the pace grows. A guessed delay is not held: where many requests a second are
-- allowed, nothing is refused at it, and holding it would leave the host to another fleet for a minute and more.
local function speed(h, p)
  if not takes_turns(h, p) then return (p[GROWN] < 1 and 1 or BEYOND) * pull(h) end
  if p[GROWN] < HELD or p[GROWN] >= 1 or p[REF] > 0 then return UNHELD end
  return p[NOISE] == SHARED and 1 or ALONE
end

local function growth(h, p)
  return math.min(h[DELAY] / BACK_MS, 1 / BACK_ANSWERS) * speed(h, p)
end

-- Ends a trial at half the pace, and a guess; what is_slow and pairs count there goes on.
local function end_trouble(p)
  p[TRYING], p[REF] = math.min(p[TRYING], 0), math.min(p[REF], 0)
end

local function after_probe(h, p)
  local kept = gap(h) / KEPT
  return (p[GROWN] < 1 or p[PEAK] > PAIR_MS) and kept or math.min(kept, RAISED * p[PEAK])
end

-- Whether a delay is held that no refusal has set yet: one that was learned from far too fast, with Retry-After, is
-- still on its way back to a pace that was refused.
local function is_returning(p)
  return p[NOISE] == PACED and p[REF] > 0
end

-- The factor of a delay in which a turn was early, at least `usual`; asked: Retry-After, ms.
local function creep(p, usual, asked)
  if asked == 0 or remembered(p) < ALONE_FROM_MS then return usual end
  return math.max(usual, 1 + SOONER / math.max(1, p[ANSWERS]))
end

-- A refusal where turns are taken: of a probe it says that the delay is too short. Else the turn was early by a little.
local function give_way(h, p, asked)
  if p[NOISE] == SHARED then
    aim(h, p, math.max(remembered(p), p[PEAK]) * creep(p, SHARED_CREEP, asked), HELD)
  elseif p[GROWN] >= HELD and p[GROWN] < 1 and not is_returning(p) then
    aim(h, p, remembered(p) * creep(p, CREEP, asked), p[GROWN])
  else
    aim(h, p, after_probe(h, p), HELD)
  end
  end_trouble(p)
end

local function is_quick(p)
  return p[EVENTS] == QUICK or p[EVENTS] == OFTEN_QUICK
end

-- After long rests the first good response tells only that there is another fleet, or that this one's turn is lost:
-- then it looks for another. Two requests were served in `apart` ms, so that the delay of two fleets is no longer.
local function take_long_turn(h, p, apart)
  if p[NOISE] == SHARED and p[ROW] > 1 then
    p[NOISE] = 0
    aim(h, p, remembered(p) / PAIR, HELD)
  elseif p[NOISE] ~= SHARED and (is_quick(p) or p[ROW] > 1) and p[GROWN] >= HELD and p[DEBT] > h[DELAY] / 2 then
    p[NOISE] = SHARED
    aim(h, p, math.min(apart, PAIR * math.max(math.min(h[DELAY], apart / 2), ALONE_MS)), PAIRED)
  end
end

-- Where far more was remembered than is allowed, the time since the turn before tells what is; nothing, if the last
-- rest was most of it.
local function find_turns(h, p, apart)
  if apart - (now - h[HURT]) < TURN_MS then return end
  p[NOISE] = 0
  end_trouble(p)
  p[REF] = math.min(apart, ALONE_MS)
  aim(h, p, p[REF], HELD)
end

-- The host refused for so many ms after it had served a request, again and again. From then on its pace is learned as
-- that of a host that allows many requests a second: trying often would only add refusals. It begins a little slower
-- than what was refused last.
local function leave_turns(h, p, refused)
  p[NOISE], p[TRYING], p[REF] = PACED, 0, 0
  aim(h, p, refused / KEPT, HELD)
end

local function is_slow(p, refused)
  p[TRYING] = refused >= SLOW_MS and p[TRYING] - math.min(refused, MOST_MS) or 0
  return p[TRYING] <= -SURE_MS
end

-- Whether this fleet, alone as far as it knows, is refused in one turn after the other, and then served after little
-- more than its delay: that is too short by more than CREEP soon mends.
local function is_early(h, p, apart)
  return p[NOISE] ~= SHARED and p[EVENTS] == OFTEN_QUICK and apart <= WIDE * h[DELAY]
end

-- The first good response after several refusals tells how far apart requests may be.
local function take_turn(h, p, wire)
  local new, shared = is_new(h, p), p[NOISE] == SHARED
  if p[ROW] <= 0 then p[TRYING] = math.max(p[TRYING], 0) end
  if p[ROW] <= 0 or not (new or takes_turns(h, p)) then return end
  local apart, long = h[DELAY] + p[DEBT] + overdue(h, p, wire), p[DEBT] > LONG_MS * p[ROW]
  local refused = apart - (now - h[HURT])
  if not new and is_slow(p, refused) then return leave_turns(h, p, refused) end
  if not new and not is_few(p) then return find_turns(h, p, apart) end
  if not new and is_early(h, p, apart) then return aim(h, p, apart, HELD) end
  if long and not new then return take_long_turn(h, p, apart) end
  if p[ROW] < (shared and 2 or 3) or (shared and p[EVENTS] == PROBED) then return end -- its delay was long enough
  if long then return aim(h, p, ALONE_MS, HELD) end
  apart = new and BOTH_MS or math.min(apart, (shared and MOST_SHARED or MOST) * h[DELAY])
  if new or apart > WIDE * h[DELAY] then p[NOISE] = SHARED end
  if new then p[REF] = apart end
  aim(h, p, apart, p[ROW] < 3 and HELD or FAR)
end
