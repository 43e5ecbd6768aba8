-- How a lease ends, for its host and for itself.

-- Reads the hosts of which records hold a slot, at once; of the first `starts` those that have a delay: see start.
local function load_hosts_of(records, starts)
  local names, count = {}, 0
  for i, r in ipairs(records) do
    if r and r[RELEASED] == 0 and (i > starts or r[RESERVED] > r[START_BY]) then
      count = count + 1
      names[count] = r[HOST]
    end
  end
  load_hosts(names)
end

-- Gives the host its slot back, once. wire: ms when the request went out, nil when it never did.
-- Only the latest reservation may be lowered: a later one belongs to another request.
local function release(r, wire)
  if r[RELEASED] == 1 then return end
  r[RELEASED] = 1
  local h = host(r[HOST])
  unsettled[r[HOST]] = true
  h[INFLIGHT] = math.max(0, h[INFLIGHT] - 1)
  if h[NEXT] == r[RESERVED] then
    h[NEXT] = wire and next_after(h, wire, true) or (burst(h) > 1 and h[PRIOR] or now)
  elseif wire then
    h[NEXT] = math.max(h[NEXT], next_after(h, wire))
  end
end

-- A request that ends without a report: if it was started, it may be leaving the worker this very moment.
local function release_unreported(r)
  release(r, r[STARTED] > 0 and now or nil)
end

-- Deliveries without the one that ends in an orderly way.
local function uncharged(r)
  return r[STARTED] > 0 and r[DELIVERIES] - 1 or r[DELIVERIES]
end
