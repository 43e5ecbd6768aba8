-- What is remembered of the pace that a host allows, beside its DELAY: T:pace HASH host -> these numbers (d), while
-- HURT is not 0.
--   PEAK     delay that was complained of last, ms
--   GROWN    the way back to it: 0 begins, 1 is there, beyond that more is tried
--   NOISE    share of complaints not about the pace, 0 if nobody knows, PACED: they are about the pace, SHARED: another
--            fleet is there, and takes turns
--   DEBT     complaints beyond that share, of late; if there is no such share, ms of rests in the present ROW,
--            and how late requests were sent after them
--   ROW      complaints without a good answer between, below 0 after the first good one (it may be a block page yet)
--   REF      delay when the present trouble began, 0: there is none; during a trial, the floor that it began under
--   TRYING   during a trial at half the pace, to see whether it matters: the delay that was complained of last
--   EVENTS   complaints at lower paces than REF, or during the trial
--   ANSWERS  all answers since REF or TRYING was set
-- Where turns are taken four of them mean something else:
--   REF      a delay that is a guess until a refusal confirms it; below 0: how many pairs were in vain (pace_pairs)
--   TRYING   below 0: for how many ms together it refused before each of the requests that it served last
--   EVENTS   QUICK if the present ROW began soon after the one before, OFTEN_QUICK if that one did, too; PROBED if it
--            began while a delay shared with another fleet was shorter than its PEAK
--   ANSWERS  all answers since that ROW began
local PEAK, GROWN, NOISE, DEBT, ROW, REF, TRYING, EVENTS, ANSWERS = 1, 2, 3, 4, 5, 6, 7, 8, 9
local PACE_FORMAT, PACE_BYTES = '<ddddddddd', 72
local SLACK_MS, LATE_MS = 20, 1000
local SENDING_MS = 100 -- at most, from the end of a rest to the wire; later ones had to be found first
local LESS, HALF = 0.85, 0.5 -- factor of the rate after a complaint, and after one in slow start or one of many
local QUICK, PROBED, OFTEN_QUICK = 1, 2, 3
local PACED, SHARED, DENIED, MOST_NOISE, FADES, LEAST_NOISE = -1, -2, 0.05, 0.1, 512, 0.01
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

-- How long a request, sent at wire, took to be sent after the rest of a refused one.
local function overdue(h, p, wire)
  return p[DEBT] > 0 and math.max(0, math.min(wire - h[BLOCKED], SENDING_MS)) or 0
end

-- The effective delay: late requests were further apart than the pace required. One that is late by the rest after a
-- refusal and the time that it takes to be sent counts as in time: otherwise the third one in a row doubles the delay.
local function gap(h)
  if h[DELAY] == 0 then return math.max(SLACK_MS, h[LATENCY] / math.max(1, h[INFLIGHT])) end
  if is_paced(h) then return h[DELAY] end
  return h[DELAY] + math.min(lateness(h), math.max(h[DELAY], LATE_MS))
end

-- The delay to remember: latency varies and says nothing about what the host allows.
local function remembered(p)
  return p[PEAK] / (1 - (1 - LESS) * (1 - p[GROWN]) ^ 3)
end

local function settle_delay(h, p)
  local most, delay = math.max(THROTTLE_MAX_MS, floor_of(h)), remembered(p)
  h[DELAY] = delay - least(h) < 0.5 and least(h) or math.min(delay, most)
end

-- Applies a newly learned PEAK. The rules bound it now; later ones bound the delay alone: it would outlive them.
local function learn(h, p)
  p[PEAK] = math.max(math.min(p[PEAK], THROTTLE_MAX_MS), floor_of(h))
  settle_delay(h, p)
end

local function aim(h, p, delay, grown)
  p[GROWN], p[PEAK] = grown, delay * (1 - (1 - LESS) * (1 - grown) ^ 3)
  learn(h, p)
end
