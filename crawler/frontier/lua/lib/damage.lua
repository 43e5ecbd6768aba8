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

-- The names in T:gens, read from the counters themselves, where it was lost. Reads the names of all keys of the server.
local function lost_generations()
  local prefix, names, cursor = T .. ':gen:', {}, '0'
  local pattern = string.gsub(prefix, '[%[%]%*%?\\%^]', '\\%0') .. '*'
  repeat
    local page = redis.call('SCAN', cursor, 'MATCH', pattern, 'COUNT', 1000)
    cursor = page[1]
    for _, key in ipairs(page[2]) do names[#names + 1] = string.sub(key, #prefix + 1) end
  until cursor == '0'
  for _, name in ipairs(names) do redis.pcall('SADD', T .. ':gens', name) end -- a read-only script only tells them
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
