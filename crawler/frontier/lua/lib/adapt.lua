-- How a host's answers change its pace: Scrapy's AutoThrottle, and stepping back on 429 and 503.
local DAY_MS = 86400000

local function step_back(h, wire, retry_after, jitter)
  if wire >= h.hurt then -- sent after the last step back: what was in the air then says nothing new
    local most = math.max(THROTTLE_MAX_MS, h.floor, h.crawl)
    h.delay = math.min(math.max(2 * h.delay, BACKOFF_MS), most)
    h.width = math.max(1, math.floor(h.width / 2))
    h.hurt = now
  end
  local rest = math.max(math.min(retry_after, DAY_MS), h.delay)
  h.blocked = math.max(h.blocked, math.floor(now + rest * (1 + jitter / 10)))
end

-- Every FORGIVE_MS without a new complaint halves what was imposed.
local function forgive(h)
  local least = math.max(h.floor, h.crawl)
  while h.hurt > 0 and now - h.hurt >= FORGIVE_MS do
    h.hurt = h.hurt + FORGIVE_MS
    h.width = math.min(h.cap, h.width * 2)
    h.delay = math.max(least, math.floor(h.delay / 2))
    if h.delay <= math.max(least, BACKOFF_MS / 2) and h.width == h.cap then
      h.delay, h.hurt = least, 0
    end
  end
end

-- AutoThrottle as Scrapy does it: the mean of the old delay and latency / target, or the latter when it is longer;
-- answers other than 200 tend to be quick and never lower it.
local function throttle(h, latency, status)
  local target = latency / THROTTLE_TARGET
  local delay = math.max(target, (h.delay + target) / 2)
  delay = math.floor(math.min(math.max(delay, h.floor, h.crawl), math.max(THROTTLE_MAX_MS, h.floor, h.crawl)))
  if delay > h.delay or (status == 200 and h.hurt == 0) then h.delay = delay end
end

local function adapt(h, wire, latency, status, retry_after, jitter)
  if status == 429 or status == 503 then
    step_back(h, wire, retry_after, jitter)
  else
    forgive(h)
    if THROTTLE == 1 and status > 0 then throttle(h, latency, status) end
  end
  if status > 0 then h.latency = h.latency == 0 and latency or math.floor(0.8 * h.latency + 0.2 * latency) end
  local good = status > 0 and status ~= 429 and status < 500
  if good then h.ok = h.ok + 1 else h.bad = h.bad + 1 end
  if h.ok + h.bad > 1000 then h.ok, h.bad = math.floor(h.ok / 2), math.floor(h.bad / 2) end
end
