-- The server's own time in ms. Tests replace this file with another clock.
local function server_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
