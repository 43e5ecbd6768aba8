-- Runs that the lists of them have lost, as they were damaged: nobody would end them, or show them.
local RELIST_MOST = 1000 -- of the newest

local UNFINISHED = {}
for _, name in ipairs({'open', 'sealed'}) do
  UNFINISHED[#UNFINISHED + 1] = cmsgpack.pack('state') .. cmsgpack.pack(name)
end

local function is_unfinished(raw)
  return string.find(raw, UNFINISHED[1], 1, true) or string.find(raw, UNFINISHED[2], 1, true)
end

local function put_in_order(id)
  local ok, run = pcall(cmsgpack.unpack, call('HGET', T .. ':runs', id))
  call('ZADD', T .. ':runs:at', 'NX', ok and type(run) == 'table' and tonumber(run.opened) or now, id)
end

local function relist_runs()
  if call('HLEN', T .. ':runs') > call('ZCARD', T .. ':runs:at') then
    for _, id in ipairs(call('HKEYS', T .. ':runs')) do put_in_order(id) end
  end
  local ids = call('ZREVRANGE', T .. ':runs:at', 0, RELIST_MOST - 1)
  for i, raw in ipairs(#ids > 0 and call('HMGET', T .. ':runs', unpack(ids)) or {}) do
    if raw and is_unfinished(raw) then call('SADD', T .. ':runs:live', ids[i]) end
  end
end
