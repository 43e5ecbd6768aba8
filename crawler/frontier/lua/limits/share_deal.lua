#!lua flags=allow-oom
-- share_deal: deal what nobody has of a shared limit to the shards that want some.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  name of a shared limit
-- ARGV[2]  when its day began (ms)
-- ARGV[3...]  of each shard: '1' if it wants some, then its answer to share_state
-- T:dealt:<day's begin> HASH name -> msgpack list: granted ever and given back ever, of each shard (4 and 4).
-- All that was granted less what was given back is never above the limit, whoever calls this and however often: it is
-- decided here alone, from numbers that only grow.
-- Result: of each shard what share_state takes. O(shards).
-- include: clock damage state
local KEPT_MS = 259200000
local key, name = T .. ':dealt:' .. ARGV[2], ARGV[1]
local raw = call('HGET', key, name)
local ok, book = pcall(cmsgpack.unpack, raw or '')
if raw and not (ok and type(book) == 'table') then set_aside(key .. ' ' .. name, raw) end
if not (raw and ok and type(book) == 'table') then book = {} end

local shards, wanting, used, most = {}, {}, {0, 0, 0, 0}, {0, 0, 0, 0}
for i = 3, #ARGV, 2 do
  local told, at = {struct.unpack('<dddddddddddddddd', ARGV[i + 1])}, #shards + 1
  local known = type(book[at]) == 'table' and #book[at] == 8 and book[at] or {0, 0, 0, 0, 0, 0, 0, 0}
  for kind = 1, 4 do
    known[kind] = math.max(tonumber(known[kind]) or 0, told[4 + kind])
    known[4 + kind] = math.max(tonumber(known[4 + kind]) or 0, told[8 + kind])
    used[kind], most[kind] = used[kind] + told[kind], math.max(most[kind], told[12 + kind])
  end
  shards[at] = known
  if ARGV[i] == '1' then wanting[#wanting + 1] = known end
end

local spent = 0
for kind = 1, 4 do
  local pool = most[kind]
  for _, known in ipairs(shards) do pool = pool - known[kind] + known[4 + kind] end
  for i, known in ipairs(wanting) do
    local part = math.ceil(math.max(0, pool) / (#wanting - i + 1))
    known[kind], pool = known[kind] + part, pool - part
  end
  if most[kind] > 0 and used[kind] >= most[kind] then spent = spent + 2 ^ kind end
end
call('HSET', key, name, cmsgpack.pack(shards))
if tonumber(ARGV[2]) > 0 then call('PEXPIRE', key, KEPT_MS) end
save()
local found = {}
for i, known in ipairs(shards) do found[i] = struct.pack('<ddddd', known[1], known[2], known[3], known[4], spent) end
return found
