#!lua flags=allow-oom
-- sweep: forget hosts that have been idle for long, and the fingerprints of finished generations some time after their
-- last work; a few per call.
-- KEYS[1]  the shard's tag
-- ARGV[1...]  spider, its current generation, spider, ...
-- Result: how much is still to go. O(generations).
-- A generation is finished when it is not current and has nothing queued, leased or delayed. Its counters move to the
-- generation '' of the stream; T:drop HASH set -> buckets keeps what is still to go.
-- Where nothing is delayed the counters say so: what was lost to damage counts as dropped, and nobody waits for it.
-- include: clock damage state tally hosts
local BUCKETS, HOSTS = 128, 512
local COUNTERS = {
  'accepted', 'done', 'dead', 'dropped', 'duplicates', 'duplicates_dead', 'refused', 'nacked', 'reaped',
}
local current = {}
for i = 1, #ARGV, 2 do current[ARGV[i]] = ARGV[i + 1] end

local function number(key, field)
  return tonumber(call('HGET', key, field) or 0)
end

local nothing_delayed = call('ZCARD', T .. ':delayed') + call('ZCARD', T .. ':delayed:room') == 0

local function recount_delayed(stream, generation, key)
  local lost = number(key, 'delayed')
  if nothing_delayed and lost ~= 0 then
    local t = tally(stream, generation)
    t.delayed, t.dropped = -lost, lost
  end
end

-- generations by spider and name, with all their streams
local groups = {}
for _, name in ipairs(call('SMEMBERS', T .. ':gens')) do
  local stream, generation = string.match(name, '^(.*):(.*)$')
  recount_delayed(stream, generation, T .. ':gen:' .. name)
  local spider = string.match(stream, '^[^:]*')
  if generation ~= '' and generation ~= (current[spider] or '0') then
    local group = groups[spider .. ':' .. generation] or {live = 0, last = 0, streams = {}, generation = generation}
    groups[spider .. ':' .. generation] = group
    local key = T .. ':gen:' .. name
    group.live = group.live + number(key, 'queued') + number(key, 'leased') + number(key, 'delayed')
    group.last = math.max(group.last, number(key, 'last'))
    group.streams[#group.streams + 1] = stream
  end
end

local function retire(stream, generation)
  local key, retired = T .. ':gen:' .. stream .. ':' .. generation, T .. ':gen:' .. stream .. ':'
  for _, field in ipairs(COUNTERS) do
    local count = number(key, field)
    if count ~= 0 then call('HINCRBY', retired, field, count) end
  end
  call('SADD', T .. ':gens', stream .. ':')
  local set = call('HGET', key, 'set')
  if set then call('HSET', T .. ':drop', set, call('HGET', key, 'buckets')) end
  call('SREM', T .. ':gens', stream .. ':' .. generation)
  call('UNLINK', key)
end

for _, group in pairs(groups) do
  if group.live == 0 and group.last + RETENTION_MS <= now then
    for _, stream in ipairs(group.streams) do retire(stream, group.generation) end
  end
end

local left, step = 0, BUCKETS
local drops = call('HGETALL', T .. ':drop')
for i = 1, #drops, 2 do
  local set, buckets = drops[i], tonumber(drops[i + 1])
  while buckets > 0 and step > 0 do
    buckets, step = buckets - 1, step - 1
    call('UNLINK', T .. ':seen:' .. set .. ':' .. buckets)
  end
  if buckets > 0 then call('HSET', T .. ':drop', set, buckets) else call('HDEL', T .. ':drop', set) end
  left = left + buckets
end

-- A host that works has left the list of the idle, in all but this: an entry of its last rest may be there still.
local overdue = call('ZRANGEBYSCORE', T .. ':idle', '-inf', now, 'LIMIT', 0, HOSTS)
load_hosts(overdue)
local forgotten = {}
for _, name in ipairs(overdue) do
  if is_idle(host(name)) then forgotten[#forgotten + 1] = name end
end
if #forgotten > 0 then
  call('HDEL', T .. ':hosts', unpack(forgotten))
  call('HDEL', T .. ':pace', unpack(forgotten))
  call('HDEL', T .. ':answers', unpack(forgotten))
end
if #overdue > 0 then call('ZREM', T .. ':idle', unpack(overdue)) end
save_tallies()
save_state()
return left + (#overdue == HOSTS and 1 or 0)
