-- How a lease ends, for its host and the lease itself.

-- Reads the hosts of records that hold a slot in one call; of the first `starts` only those with a delay: see start.
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

-- Only the latest reservation may be lowered: otherwise NEXT belongs to another request.
local function release_slot(name, reserved, wire)
  local h = host(name)
  unsettled[name] = true
  h[INFLIGHT] = math.max(0, h[INFLIGHT] - 1)
  if h[NEXT] == reserved then
    h[NEXT] = wire and next_after(h, wire, true) or (burst(h) > 1 and h[PRIOR] or now)
  elseif wire then
    h[NEXT] = math.max(h[NEXT], next_after(h, wire))
  end
end

-- Returns the slot to the host and its address, once. wire: ms when the request was sent, nil if it was not.
local function release(r, wire)
  if r[RELEASED] == 1 then return end
  r[RELEASED] = 1
  local address = address_of(r[HOST])
  release_slot(r[HOST], r[RESERVED], wire)
  if address then release_slot(address, r[RESERVED], wire) end
end

-- A request that ends without a report: if it was started it may be leaving the worker at this moment.
local function release_unreported(r)
  release(r, r[STARTED] > 0 and now or nil)
end

-- Deliveries, without one that ends in an orderly way.
local function uncharged(r)
  return r[STARTED] > 0 and r[DELIVERIES] - 1 or r[DELIVERIES]
end
