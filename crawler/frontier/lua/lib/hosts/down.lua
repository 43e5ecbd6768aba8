-- Hosts that stay down. T:down:<host> STRING ms when its breaker first opened, in a series of openings; a retry of its
-- dead letters deletes it. After GIVE_UP_MS the host's queued requests become dead letters.

-- For how many ms the host's breaker has been open; 0 if it is closed.
local function down_for(name)
  local since = host(name)[TRIPS] > 0 and tonumber(call('GET', T .. ':down:' .. name) or nil)
  return since and math.max(0, now - since) or 0
end

local function is_given_up(name)
  return down_for(name) >= GIVE_UP_MS
end

local function down_detail(name)
  return cmsgpack.pack({error = string.format('%s has not worked for %d s', name, GIVE_UP_MS / 1000)})
end
