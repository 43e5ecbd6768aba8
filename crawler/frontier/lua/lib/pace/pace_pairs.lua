-- Pairs: where turns are taken, a delay may be far too long, because another fleet used up what the site allows when it
-- was guessed. So now and then a second request follows a served one soon (a packet pair, as in Keshav 1991). Where so
-- few requests are allowed it is refused, and the turn stays what it was; if it is served, more are allowed, and the
-- delay shrinks until something is refused. After each pair in vain the next one is half as likely.
-- A pair is out while REF, if below 0, is no whole number: less by the half.
local PAIRED_MS = 1250 -- shorter delays are right for one request a second, or for two fleets at two a second
local NEAR = 0.4 -- the second one follows after this share of the delay: before the other fleet's, if there is one
local PAIR_EVERY, PAIR_MOST = 8, 8 -- good responses for one pair at first; how often that is doubled
local PAIR_LESS = 0.7 -- factor of the delay after a pair was served

local function near(h)
  return NEAR * h[DELAY]
end

-- Called for each response: only the next one after a pair was sent tells anything.
local function note_pair(p)
  p.second, p.keeps_turn = p[REF] < 0 and p[REF] % 1 > 0, false
  if p.second then p[REF] = p[REF] + 0.5 end
end

-- Whether this response is that of a second request, and that was sent in time.
local function is_second(h, p)
  return p.second and takes_turns(h, p) and lateness(h) < near(h)
end

-- Called when the slot of a request that was served, sent at wire, has been released.
local function send_second(h, p, wire, jitter)
  local turn = p[PEAK] > 0 and p[ROW] == 0 and p[TRYING] <= 0 and h[INFLIGHT] == 0 and takes_turns(h, p)
  if not turn or h[DELAY] < PAIRED_MS or near(h) < floor_of(h) then return end
  local vain = math.max(0, -p[REF])
  if jitter * PAIR_EVERY * 2 ^ math.min(vain, PAIR_MOST) >= 1 then return end
  p[REF] = -vain - 0.5
  h[NEXT] = math.max(wire + near(h), h[BLOCKED])
end

local function pair_served(h, p)
  local delay = remembered(p) * PAIR_LESS
  aim(h, p, delay, 1)
  p[REF] = delay
end

-- The next request keeps its turn.
local function pair_refused(h, p, retry_after, jitter)
  p[REF], p.keeps_turn = p[REF] - 1, true
  obey(h, retry_after, jitter)
  h[BLOCKED] = math.floor(math.max(h[BLOCKED], h[PRIOR] - near(h) + h[DELAY]))
end
