-- What a shard knows about itself: schema, time, the next id and token, its backlog. One read, one write.
-- T:state HASH schema, born, clock, offset, pause, seq, token, sets, backlog, evicted
local T, call = KEYS[1], redis.call
local STATE = {'schema', 'born', 'clock', 'offset', 'pause', 'seq', 'token', 'sets', 'backlog', 'evicted'}
local state, unsaved = {}, {}

for i, value in ipairs(call('HMGET', T .. ':state', unpack(STATE))) do
  state[STATE[i]] = tonumber(value) or 0
end

local function put(name, value)
  state[name] = value
  unsaved[#unsaved + 1], unsaved[#unsaved + 2] = name, value
end

if state.schema > SCHEMA then
  return redis.error_reply('SHOALSCHEMA ' .. state.schema)
end

-- Frontier time never runs backward: when the server's clock does, the offset takes up the difference.
local now = server_ms() + state.offset
if now < state.clock then
  put('offset', state.offset + state.clock - now)
  now = state.clock
end
if state.schema == 0 then
  put('schema', SCHEMA)
  put('born', now)
  put('clock', now)
end
-- A long silence is an outage or a jump of the clock: live workers had no chance to renew, so none is reaped yet.
if now - state.clock > LEASE_MS / 4 then put('pause', now + LEASE_MS) end
if now - state.clock >= CLOCK_GRAIN_MS then put('clock', now) end

local function save_state()
  if #unsaved > 0 then call('HSET', T .. ':state', unpack(unsaved)) end
end
