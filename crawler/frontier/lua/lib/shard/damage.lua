-- A foreign or damaged value in Redis costs only itself: it is set aside and named, and work goes on without it.
-- T:damaged HASH '<key> <field>' -> the value (at most DAMAGED_MOST of them).
-- T:damaged:<s>:<key>: a key of another type, as found in that second.
local T = KEYS[1]
local DAMAGED_MOST = 1000

local function set_aside(name, value)
  local kept = redis.pcall('HLEN', T .. ':damaged')
  if type(kept) == 'number' and kept < DAMAGED_MOST then
    -- A read-only script cannot set it aside, and goes on without it.
    redis.pcall('HSETNX', T .. ':damaged', name, value or '')
  end
end

-- What a counter holds; nil if that is no plausible whole number.
local function whole_number(raw)
  local value = tonumber(string.match(raw or '', '^-?%d+$'))
  return value and math.abs(value) < 1e15 and value or nil
end

-- Notes the name in T:gens that a key tells: that of counters, or a stream on which hosts with work are filed.
local function note_generation(key, names, streams)
  local kind, name = string.match(string.sub(key, #T + 2), '^(%l+):(.*)$')
  if kind == 'gen' then names[name] = true end
  if kind == 'due' or kind == 'wait' or kind == 'park' then streams[string.gsub(name, '!$', '')] = true end
end

-- A leased request's record: its numbers, and up to where its worker stands (see lib/records). The twin of the first is
-- in server/wire_format.py.
local HEAD_FORMAT, RECORD_FORMAT = '<dddddBBH', '<dddddBBHBc0Bc0Bc0'

-- The name in T:gens that a leased request's record tells; nil for an invalid one or a slot alone.
local function leased_name(record)
  local ok, token, _, _, _, _, _, _, _, _, stream, generation = pcall(struct.unpack, RECORD_FORMAT, record)
  return ok and token % 1 == 0 and stream ~= '' and stream .. ':' .. generation or nil
end

-- The names in T:gens, where it was lost: read from the counters, and from what is filed and leased, as these may be
-- lost, too. Reads the names of all keys of the server.
local function lost_generations()
  local found, streams, names, cursor = {}, {}, {}, '0'
  local pattern = string.gsub(T, '[%[%]%*%?\\%^]', '\\%0') .. ':[gdwp]*'
  repeat
    local page = redis.call('SCAN', cursor, 'MATCH', pattern, 'COUNT', 1000)
    cursor = page[1]
    for _, key in ipairs(page[2]) do note_generation(key, found, streams) end
  until cursor == '0'
  local records = redis.pcall('HVALS', T .. ':infl')
  for _, record in ipairs(records.err and {} or records) do
    local name = leased_name(record)
    if name then found[name] = true end
  end
  for name in pairs(found) do streams[string.match(name, '^(.*):') or name] = nil end
  for stream in pairs(streams) do found[stream .. ':'] = true end
  for name in pairs(found) do
    names[#names + 1] = name
    redis.pcall('SADD', T .. ':gens', name) -- a read-only script only tells them
  end
  return names
end

-- Moves away a key of the wrong type, so that the command can be repeated; false if it cannot.
local function heal(why, command, key, field)
  if string.find(why, 'WRONGTYPE', 1, true) then
    local aside = T .. ':damaged:' .. redis.call('TIME')[1] .. ':' .. string.sub(key, #T + 2)
    local moved = redis.pcall('RENAME', key, aside)
    if moved.err then return false end -- in a read-only script: see mend
    set_aside(key, 'now ' .. aside)
    if key == T .. ':gens' then lost_generations() end
    return true
  end
  if string.sub(command, 1, 7) ~= 'HINCRBY' then return false end
  set_aside(key .. ' ' .. field, redis.call('HGET', key, field))
  redis.call('HDEL', key, field)
  return true
end

local function call(command, key, ...)
  local answer = redis.pcall(command, key, ...)
  if type(answer) ~= 'table' or not answer.err then return answer end
  if heal(answer.err, command, key, ...) then return redis.call(command, key, ...) end
  answer.err = answer.err .. ' (' .. command .. ' ' .. tostring(key) .. ')'
  error(answer)
end
