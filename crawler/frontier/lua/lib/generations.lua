-- Counters, kept per stream and crawl generation: T:gen:<stream>:<generation> HASH, T:gens SET of these names.
-- accepted = queued + leased + delayed + dead + done + dropped, always.
local deltas = {}

local function spider_of(stream)
  return string.match(stream, '^[^:!]*')
end

local function count(stream, generation, field, by)
  local name = stream .. ':' .. generation
  local fields = deltas[name]
  if not fields then
    fields = {}
    deltas[name] = fields
  end
  fields[field] = (fields[field] or 0) + by
  if field == 'queued' or field == 'delayed' then put('backlog', state.backlog + by) end
end

local function save_counters()
  for name, fields in pairs(deltas) do
    local key = T .. ':gen:' .. name
    for field, by in pairs(fields) do
      if by ~= 0 then call('HINCRBY', key, field, by) end
    end
    if call('HSET', key, 'last', now) == 1 then call('SADD', T .. ':gens', name) end
  end
end
