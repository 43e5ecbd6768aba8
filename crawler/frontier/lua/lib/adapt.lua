-- How a host's answers change its pace: Scrapy's AutoThrottle, stepping back on 429 and 503, and a breaker.
local DAY_MS = 86400000

local function step_back(h, wire, retry_after, jitter)
  if wire >= h[HURT] then -- sent after the last step back: what was in the air then says nothing new
    local most = math.max(THROTTLE_MAX_MS, h[FLOOR], h[CRAWL])
    h[DELAY] = math.min(math.max(2 * h[DELAY], BACKOFF_MS), most)
    h[WIDTH] = math.max(1, math.floor(h[WIDTH] / 2))
    h[HURT], h[STREAK] = now, math.min(h[STREAK], 0)
  end
  local rest = math.max(math.min(retry_after, DAY_MS), h[DELAY])
  h[BLOCKED] = math.max(h[BLOCKED], math.floor(now + rest * (1 + jitter / 10)))
end

local function ease(h)
  local least = math.max(h[FLOOR], h[CRAWL])
  h[WIDTH] = math.min(h[CAP], h[WIDTH] * 2)
  h[DELAY] = math.max(least, math.floor(h[DELAY] / 2))
  if h[DELAY] <= math.max(least, BACKOFF_MS / 2) and h[WIDTH] == h[CAP] then
    h[DELAY], h[HURT] = least, 0
  end
end

-- Every FORGIVE_MS without a new complaint halves what was imposed, and so do FORGIVE_AFTER 200s in a row.
local function forgive(h, wire, status)
  while h[HURT] > 0 and now - h[HURT] >= FORGIVE_MS do
    h[HURT] = h[HURT] + FORGIVE_MS
    ease(h)
  end
  if h[HURT] == 0 or status ~= 200 or wire < h[HURT] then return end
  h[STREAK] = math.max(h[STREAK], 0) + 1
  if h[STREAK] >= FORGIVE_AFTER then
    h[STREAK] = 0
    ease(h)
  end
end

-- A host that answers nothing but faults is left alone, for twice as long each time; then one request probes it, and
-- any other answer ends that. What was sent before the last opening says nothing new.
-- Returns for how many ms the breaker opened, -1 when it closed, else 1.
local function judge(h, wire, status, fault, jitter)
  if wire < h[TRIPPED] then return 1 end
  if fault then
    h[STREAK] = math.max(math.min(h[STREAK], 0) - 1, -BREAKER_FAULTS)
    if BREAKER_FAULTS == 0 or (h[TRIPS] == 0 and h[STREAK] > -BREAKER_FAULTS) then return 1 end
    local rest = math.min(BREAKER_MS * 2 ^ h[TRIPS], BREAKER_MAX_MS) * (1 + jitter / 10)
    h[TRIPS], h[TRIPPED], h[BLOCKED] = math.min(255, h[TRIPS] + 1), now, math.max(h[BLOCKED], math.floor(now + rest))
    return h[BLOCKED] - now
  end
  if status == 0 then return 1 end
  h[STREAK] = math.max(h[STREAK], 0)
  if h[TRIPS] == 0 then return 1 end
  h[TRIPS] = 0
  return -1
end

-- AutoThrottle as Scrapy does it: the mean of the old delay and latency / target, or the latter when it is longer;
-- answers other than 200 tend to be quick and never lower it.
local function throttle(h, latency, status)
  local target = latency / THROTTLE_TARGET
  local delay = math.max(target, (h[DELAY] + target) / 2)
  delay = math.floor(math.min(math.max(delay, h[FLOOR], h[CRAWL]), math.max(THROTTLE_MAX_MS, h[FLOOR], h[CRAWL])))
  if delay > h[DELAY] or (status == 200 and h[HURT] == 0) then h[DELAY] = delay end
end

local function adapt(h, wire, latency, status, retry_after, fault, jitter)
  if status == 429 or status == 503 then
    step_back(h, wire, retry_after, jitter)
  else
    forgive(h, wire, status)
    if THROTTLE == 1 and status > 0 then throttle(h, latency, status) end
  end
  if status > 0 then h[LATENCY] = h[LATENCY] == 0 and latency or math.floor(0.8 * h[LATENCY] + 0.2 * latency) end
  local good = status > 0 and status ~= 429 and status < 500
  if good then h[OK] = h[OK] + 1 else h[BAD] = h[BAD] + 1 end
  if h[OK] + h[BAD] > 1000 then h[OK], h[BAD] = math.floor(h[OK] / 2), math.floor(h[BAD] / 2) end
  local asks_for_time = status == 503 and retry_after > 0
  return judge(h, wire, status, fault or (status >= 500 and not asks_for_time), jitter)
end
