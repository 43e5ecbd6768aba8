-- A shard's own state, read and written as a whole: T:state STRING, these numbers in this order.
--   schema, born    version of the data, ms of its first script    seq, token  the last id and lease token given out
--   clock, offset   ms of the last script, what was added to TIME  sets        the last set of fingerprints opened
--   resumed         ms when work went on after a silence           backlog     queued and delayed requests
--   evicted         dead letters lost to DEAD_LIMIT                suspects    requests that wait to be leased alone
--   alarm           ms when reap is due, 0 for never: at the latest when the first lease expires, or the first delayed
--                   request is due
--   ahead           requests queued before the end of their host's list
--   stepped         ms since when time has certainly passed evenly: the clock may have stepped before
--   again           0 when no dead letter's page is being tried again: see dead_again
local STATE, STATE_BYTES, SETS_AT, STEP_AFTER_MS = '<ddddddddddddddd', 120, 57, 4500
local CLOCK_GRAIN_MS = 10 -- the clock is not written more often: each write goes to the AOF
local raw_state = call('GET', T .. ':state') or string.rep('\0', STATE_BYTES)
raw_state = raw_state .. string.rep('\0', STATE_BYTES - #raw_state) -- an older release's state is shorter

local NAME_BYTES = 1024 -- none is longer; to match a longer text would take the square of its length

-- The members of T:gens: '<stream>:<generation>', and '<stream>:' for what has moved there. Others are set aside.
-- had_some: whether there were any, where the state does not tell.
local function generation_names(was_lost, had_some)
  local function is_utf8(text)
    for _, form in ipairs({'[%z\1-\127]', '[\194-\223].', '[\224-\239]..', '[\240-\244]...'}) do
      text = string.gsub(text, (string.gsub(form, '%.', '[\128-\191]')), '')
    end
    return text == ''
  end

  local names, members = {}, call('SMEMBERS', T .. ':gens')
  local is_missing = was_lost or #members == 0
  had_some = had_some or struct.unpack('<d', raw_state, SETS_AT) > 0
  if is_missing and had_some then members = lost_generations() end
  for _, name in ipairs(members) do
    local is_plain = not string.find(name, '[\128-\255]')
    local is_name = #name <= NAME_BYTES and string.find(name, '^[^%c!:]+:?[^%c!:]*:%d*$')
    if is_name and (is_plain or is_utf8(name)) then
      names[#names + 1] = name
    else
      set_aside(T .. ':gens ' .. string.sub(name, 1, NAME_BYTES), '')
      redis.pcall('SREM', T .. ':gens', name) -- a read-only script only passes over it
    end
  end
  return names
end

-- Another one; where the set was lost, with those before it.
local function add_generation(name)
  if call('SADD', T .. ':gens', name) == 1 and call('SCARD', T .. ':gens') == 1 then generation_names(true) end
end

local function read_state(raw)
  local schema, born, clock, offset, resumed, seq, token, sets, backlog, evicted, suspects, alarm, ahead,
    stepped, again = struct.unpack(STATE, raw)
  return {
    schema = schema, born = born, clock = clock, offset = offset, resumed = resumed,
    seq = seq, token = token, sets = sets, backlog = backlog, evicted = evicted,
    suspects = suspects, alarm = alarm, ahead = ahead, stepped = stepped,
    again = again,
  }
end

local function write_state(s)
  return struct.pack(STATE, s.schema, s.born, s.clock, s.offset, s.resumed, s.seq, s.token, s.sets, s.backlog,
    s.evicted, s.suspects, s.alarm, s.ahead, s.stepped, s.again)
end

-- The initial state of a shard; if there is work, numbers continue beyond any given out before, and unknown counts are
-- taken as present: 0 would be believed. So is one request more than the counters tell, which may be lost too: until
-- sweep has compared them with what is queued, nothing is finished.
local function state_without_one()
  local s = read_state(string.rep('\0', STATE_BYTES))
  local had_some = call('EXISTS', T .. ':hosts', T .. ':body', T .. ':lease', T .. ':delayed') > 0
  local names = generation_names(false, had_some)
  if #names == 0 and not had_some then return s end
  set_aside(T .. ':state', 'lost')
  for _, name in ipairs(call('ZRANGE', T .. ':kept', 0, -1)) do
    s.sets = math.max(s.sets, tonumber(call('HGET', T .. ':gen:' .. name, 'set') or nil) or 0)
  end
  for _, set in ipairs(call('HKEYS', T .. ':drop')) do s.sets = math.max(s.sets, tonumber(set) or 0) end
  s.seq, s.suspects, s.ahead, s.alarm, s.again, s.backlog = server_ms() * SEQ_PER_MS, 1e9, 1e9, 1, 1, 1
  for _, name in ipairs(names) do
    local row = call('HMGET', T .. ':gen:' .. name, 'set', 'queued', 'delayed')
    s.sets = math.max(s.sets, tonumber(row[1]) or 0)
    s.backlog = s.backlog + (tonumber(row[2]) or 0) + (tonumber(row[3]) or 0)
  end
  return s
end

local stored = struct.unpack('<d', raw_state)
local clear = stored == math.floor(stored) and stored >= 0 and stored < 1000
if not clear then
  set_aside(T .. ':state', raw_state)
  stored = 0
end
if stored ~= SCHEMA and stored ~= 0 then return redis.error_reply('SHOALSCHEMA ' .. stored) end
local state = stored == 0 and state_without_one() or read_state(raw_state)

-- Frontier time never runs backward: if the server's clock does, an offset makes up the difference while the server
-- lags behind.
local now, offset = server_ms(), state.offset
if now >= state.clock then
  state.offset = 0
elseif now + offset < state.clock then
  state.offset = state.clock - now
end
now = now + state.offset
if state.schema == 0 then
  state.schema, state.born, state.clock = SCHEMA, now, now
end
-- A silence is an outage, a jump of the clock, or an idle fleet; these cannot be told apart. Live workers may have had
-- no chance to renew, and the apparent time between two requests to a host may not have passed.
if now - state.clock > LEASE_MS / 4 or state.offset ~= offset then state.resumed = now end
-- Live workers call every 2 s: a shorter silence may be a forward step of the clock, which ends no delay.
if now - state.clock > math.min(LEASE_MS / 4, STEP_AFTER_MS) or state.offset ~= offset then state.stepped = now end
if now - state.clock >= CLOCK_GRAIN_MS then state.clock = now end

local function save_state()
  local raw = write_state(state)
  if raw ~= raw_state then call('SET', T .. ':state', raw) end
end

local function wake_at(at)
  if state.alarm == 0 or at < state.alarm then state.alarm = at end
end

local function spider_of(stream)
  return string.match(stream, '^[^:!]*')
end
