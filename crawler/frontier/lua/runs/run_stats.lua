#!lua flags=allow-oom
-- run_stats: add what a worker has counted to the stats of runs; a call that is repeated adds nothing.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  worker
-- ARGV[2]  the number of this call: one more than its last one
-- ARGV[3...]  run, name, how ('sum', 'max', 'last'), number of each
-- T:stats:<run> HASH name -> number, for at most MOST_STATS of them; those that did not fit count as 'run_stats/cut'.
-- T:told:<worker> STRING '<number of its last call> <ms>'.
-- Result: 1, 0 for a repeated call. O(1) per row.
-- include: clock damage state
local MOST_STATS, TOLD_KEPT_MS = 300, 86400000
local told = T .. ':told:' .. ARGV[1]
local before = tonumber(string.match(call('GET', told) or '', '^(%d+) '))
if before and before >= tonumber(ARGV[2]) then return 0 end

local known = {}
local function is_known(run)
  if known[run] == nil then known[run] = call('HEXISTS', T .. ':runs', run) == 1 end
  return known[run]
end

local function combined(how, old, new)
  if not old or how == 'last' then return new end
  return how == 'sum' and old + new or math.max(old, new)
end

for i = 3, #ARGV, 4 do
  local key, name, new = T .. ':stats:' .. ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 3])
  if new and is_known(ARGV[i]) then
    local raw = call('HGET', key, name)
    local old = tonumber(raw or nil)
    if raw and not old then set_aside(key .. ' ' .. name, raw) end
    if raw or call('HLEN', key) < MOST_STATS then
      call('HSET', key, name, string.format('%.17g', combined(ARGV[i + 2], old, new)))
    else
      call('HINCRBY', key, 'run_stats/cut', 1)
    end
  end
end
call('SET', told, ARGV[2] .. ' ' .. string.format('%.0f', now), 'PX', TOLD_KEPT_MS)
save()
return 1
