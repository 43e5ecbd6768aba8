-- Turns: where few requests a second are allowed, another fleet has more to do with a refusal than the pace, since
-- between two requests there is room for one of the other's, or none. There a refused request is tried again soon,
-- until it is served: that moment is this fleet's turn from then on, and the time since the one before it is the new
-- delay. Two fleets come to rest at twice the delay of one, half a delay apart, and whoever comes too early is refused,
-- not the other one. Where the rules or Retry-After ask for long rests a turn is found only roughly.
-- Delays at which turns are taken: the one remembered is at least so long, or the present one, and below the last.
local TURN_MS, ONE_TURN_MS, TURNS_MS = 550, 950, 5000
local KEPT, CREEP = 0.87, 1.01 -- factor of the rate after a complaint that ends a probe; of the delay after another one
-- GROWN after a wide gap was found, when the delay is held, and when it has been held long enough to believe in it.
local FAR, HELD, SETTLED = -0.26, 0.5, 0.6
local FASTER, ALONE, PROBING = 6, 0.5, 4 -- growth before the delay is held, while it is by a fleet alone, and after it
local ROOM, WIDE, WIDEST = 3, 1.5, 2.15 -- refusals, and factors of the delay, that tell of another fleet
-- Least rests over so many ms are long. After the first of them the next turn comes a little later; then each rest is
-- up to so much longer, at random, so that they meet the other fleet's gaps, so often before they grow by a factor.
local LONG_MS, LATER, SPREAD, LONG_SWEEP, LONG_GROWTH = 200, 1.029, 0.1, 30, 1.25
-- There: factor of the delay for two fleets, GROWN then, answers until a refusal is a new one, factors of the delay
-- after a refusal of two fleets and of one, and the delay to begin with at a host that refused at first, ms.
local PAIR, PAIRED, AGAIN, LONG_CREEP, YIELD, LONG_FIRST_MS = 1.9, 0.4, 2, 1.012, 1.045, 1160
local LEAST_TURN_MS, MOST_TURN_MS = 1500, 2200 -- delay to begin with at a host that gave its first turn late
local BACK_MS, BACK_ANSWERS = 35000, 60 -- recovery to the peak takes at least this long and this many responses
local BEYOND = 3 -- times as fast beyond the peak

-- Whether turns are taken there.
local function takes_turns(h, p)
  local delay = remembered(p)
  local few = delay >= ONE_TURN_MS or (p[PEAK] >= TURN_MS and p[NOISE] ~= PACED)
  return h[OK] > 0 and few and delay < TURNS_MS and p[NOISE] <= 0
end

local function only_refused(h, p)
  return h[OK] == 0 and p[PEAK] == 0 and p[NOISE] <= 0
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
