-- The server's own time in ms. Tests load another clock in place of this file.
local function server_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
