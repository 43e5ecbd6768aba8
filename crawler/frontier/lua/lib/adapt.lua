-- How a host's answers change its pace: Scrapy's AutoThrottle, and stepping back on 429 and 503.
local DAY_MS = 86400000

local function step_back(h, wire, retry_after, jitter)
  if wire >= h[HURT] then -- sent after the last step back: what was in the air then says nothing new
    local most = math.max(THROTTLE_MAX_MS, h[FLOOR], h[CRAWL])
    h[DELAY] = math.min(math.max(2 * h[DELAY], BACKOFF_MS), most)
    h[WIDTH] = math.max(1, math.floor(h[WIDTH] / 2))
    h[HURT] = now
  end
  local rest = math.max(math.min(retry_after, DAY_MS), h[DELAY])
  h[BLOCKED] = math.max(h[BLOCKED], math.floor(now + rest * (1 + jitter / 10)))
end

-- Every FORGIVE_MS without a new complaint halves what was imposed.
local function forgive(h)
  local least = math.max(h[FLOOR], h[CRAWL])
  while h[HURT] > 0 and now - h[HURT] >= FORGIVE_MS do
    h[HURT] = h[HURT] + FORGIVE_MS
    h[WIDTH] = math.min(h[CAP], h[WIDTH] * 2)
    h[DELAY] = math.max(least, math.floor(h[DELAY] / 2))
    if h[DELAY] <= math.max(least, BACKOFF_MS / 2) and h[WIDTH] == h[CAP] then
      h[DELAY], h[HURT] = least, 0
    end
  end
end

-- AutoThrottle as Scrapy does it: the mean of the old delay and latency / target, or the latter when it is longer;
-- answers other than 200 tend to be quick and never lower it.
local function throttle(h, latency, status)
  local target = latency / THROTTLE_TARGET
  local delay = math.max(target, (h[DELAY] + target) / 2)
  delay = math.floor(math.min(math.max(delay, h[FLOOR], h[CRAWL]), math.max(THROTTLE_MAX_MS, h[FLOOR], h[CRAWL])))
  if delay > h[DELAY] or (status == 200 and h[HURT] == 0) then h[DELAY] = delay end
end

local function adapt(h, wire, latency, status, retry_after, jitter)
  if status == 429 or status == 503 then
    step_back(h, wire, retry_after, jitter)
  else
    forgive(h)
    if THROTTLE == 1 and status > 0 then throttle(h, latency, status) end
  end
  if status > 0 then h[LATENCY] = h[LATENCY] == 0 and latency or math.floor(0.8 * h[LATENCY] + 0.2 * latency) end
  local good = status > 0 and status ~= 429 and status < 500
  if good then h[OK] = h[OK] + 1 else h[BAD] = h[BAD] + 1 end
  if h[OK] + h[BAD] > 1000 then h[OK], h[BAD] = math.floor(h[OK] / 2), math.floor(h[BAD] / 2) end
end
