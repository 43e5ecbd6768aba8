-- Trials: complaints that are rare and persist at lower paces are put to a trial at half the pace. If they persist
-- there too they are not about the pace, which is restored, and that share of them is tolerated from then on.
local RARE, SOME, OFTEN, ENOUGH = 0.15, 0.25, 0.3, 3 -- shares of complaints, and how many are needed to tell
local TRIAL, TRIED_EVERY = 60, 3000 -- answers
local ALLOWED, MOST_DEBT = 1.6, 5

-- halfway: a pace lower than that of the last complaint moves the memory of it by half only, so that the way back from
-- there is fast.
local function slow_down(h, p, before, share, halfway)
  local known = h[HURT] > 0 and p[PEAK] > 0
  local peak = share == LESS and known and before > p[PEAK] and before * 2 / (1 + share) or before
  p[PEAK] = halfway and peak > p[PEAK] and math.sqrt(peak * p[PEAK]) or peak
  local away = (1 - share * p[PEAK] / before) / (1 - LESS)
  p[GROWN], p[DEBT] = 1 - away ^ (1 / 3), 0
  learn(h, p)
end

-- The share of complaints that is tolerated.
local function put_up(p)
  return ALLOWED * math.max(p[NOISE], DENIED)
end

-- Starts counting responses at half the pace of `delay`, where complaints began, and lower than that of `before`, which
-- drew the last one: at a pace that the site refuses now and then they would seem to have nothing to do with it.
local function begin_trial(h, p, before, delay)
  p[TRYING], p[REF], p[EVENTS], p[ANSWERS] = before, floor_of(h), 0, 0
  slow_down(h, p, math.max(delay, before * HALF / LESS), HALF)
end

local function end_trial(p, noise)
  p[NOISE], p[REF], p[TRYING], p[EVENTS], p[ANSWERS], p[DEBT] = noise, 0, 0, 0, 0, 0
end

-- Evaluates a trial at half the pace: complaints are about the pace if they are frequent (still too fast) or nearly
-- gone; otherwise they are not, and the pace is restored. If there are none, the last one is believed, too: from the
-- pace at which they began the same ones would follow, and another trial. Never after a few responses: complaints come
-- in bursts while another fleet at the same site probes for its share.
local function weigh_trial(h, p)
  local complaints, answers = p[EVENTS], p[ANSWERS]
  local rare = complaints <= RARE * math.max(answers, TRIAL)
  if not rare then
    end_trial(p, PACED)
    slow_down(h, p, gap(h), LESS)
  elseif complaints >= ENOUGH and answers >= TRIAL then
    end_trial(p, math.max(DENIED, math.min(complaints / answers, MOST_NOISE)))
    p[PEAK] = 0
  elseif answers >= (complaints == 0 and 1 or 2) * TRIAL or floor_of(h) < p[REF] then
    p[GROWN] = 0
    if complaints == 0 and answers >= TRIAL then p[PEAK] = math.max(p[PEAK], p[TRYING]) end
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
    begin_trial(h, p, gap(h), gap(h))
  end
end
