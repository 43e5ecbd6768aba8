#!lua flags=allow-oom
-- sweep: forget long-idle hosts, and remains of finished generations; a few per call.
-- KEYS[1]  the shard's tag
-- ARGV[1]  the last number that a run had as its generation when the rest was read
-- ARGV[2]  how many generations belonged to unfinished runs then
-- ARGV[3...]  these, as spider:generation, and each followed by the one whose fingerprints it shares; then spider, its
--   current generation, spider, ...
-- Result: how much is left. O(generations + fingerprints' sets kept).
-- A run's own generation is over with the run; another one some time after its last work, when it is not current, no
-- run is in it and nothing is queued, leased or delayed there. Its counters move to the generation '' of the stream.
-- Fingerprints are kept for some time: T:kept ZSET spider:generation -> ms when it was over, while other generations
-- use them for longer; T:drop HASH set -> buckets keeps what is still to go.
-- Where nothing is delayed or leased, the counters say so, and also once so few are queued that they can be counted:
-- what was lost counts as dropped, and nobody waits for it. Before that, hosts that are filed nowhere are filed again
-- (lib/refile), and leases whose expiry was lost expire (lib/unindexed). What waits for a time beyond the calendar
-- comes now. Runs that their lists have lost are listed again (lib/relist), slots of leases that were lost are freed.
-- include: clock damage state tally hosts addresses members refile unindexed uncounted relist sweep_slice
local BUCKETS, HOSTS, FEW, FAR = 128, 512, 2000, 100000000000000
local COUNTERS = {
  'accepted', 'done', 'gone', 'dead', 'dropped', 'retried', 'duplicates', 'duplicates_dead', 'refused', 'nacked',
  'reaped',
}
local last_run, runs, current = tonumber(ARGV[1]) or 0, tonumber(ARGV[2]), {}
local has_run, is_used = {}, {} -- by spider and generation
for i = 3, 2 * runs + 2, 2 do has_run[ARGV[i]], is_used[ARGV[i + 1]] = true, true end
for i = 2 * runs + 3, #ARGV, 2 do current[ARGV[i]] = ARGV[i + 1] end

local function number(key, field)
  local raw = call('HGET', key, field)
  if not raw then return 0 end
  local value = whole_number(raw)
  if value then return value end
  set_aside(key .. ' ' .. field, raw)
  call('HDEL', key, field)
  return 0
end

local all_delayed = call('ZCARD', T .. ':delayed') + call('ZCARD', T .. ':delayed:room')
  + call('ZCARD', T .. ':delayed:aside')
local nothing_delayed = all_delayed == 0
index_leases()
local nothing_leased = call('ZCARD', T .. ':lease') + call('HLEN', T .. ':infl') == 0
if nothing_leased then drop_bodies() end

-- The queues of a stream: their place and how many wait there; nothing if they are too many to look at each time.
local function queues_of(stream)
  local queues, room = {}, HOSTS

  -- Counts the queues of some hosts, and of those in the line of each address among them; false if they are too many.
  local function count_queues(queue, names)
    room = room - #names
    if room < 0 then return false end
    for _, name in ipairs(names) do
      local place = place_of(queue, name)
      queues[place] = call('LLEN', T .. ':q:' .. place) + call('ZCARD', T .. ':early:' .. place)
      if located and string.sub(name, 1, 3) == ADDRESS then
        if not count_queues(queue, call('ZRANGE', line_of(queue, name), 0, room)) then return false end
      end
    end
    return true
  end

  for _, queue in ipairs({stream, stream .. '!'}) do
    local due, wait, park = T .. ':due:' .. queue, T .. ':wait:' .. queue, T .. ':park:' .. queue
    if call('ZCARD', due) + call('ZCARD', wait) + call('SCARD', park) > room then return end
    for _, names in ipairs({call('ZRANGE', due, 0, -1), call('ZRANGE', wait, 0, -1), call('SMEMBERS', park)}) do
      if not count_queues(queue, names) then return end
    end
  end
  return queues
end

-- How many of each generation are queued on a stream, of which `counted` should be; nothing if that is so, or if they
-- are too many to read.
local counters_hold = true -- as far as they were compared with what is there
local function found_queued(stream, counted)
  local queues, total, found = queues_of(stream), 0, {}
  for _, count in pairs(queues or {}) do total = total + count end
  if queues and total == counted then return end
  if not queues or not all_filed() or total > FEW then
    counters_hold = false
    return
  end
  for place in pairs(queues) do
    for _, entries in ipairs({
      call('LRANGE', T .. ':q:' .. place, 0, -1), call('ZRANGE', T .. ':early:' .. place, 0, -1),
    }) do
      for _, entry in ipairs(entries) do
        local ok, generation = pcall(generation_of, string.sub(entry, MEMBER_AT))
        if not ok then -- lease sets it aside
          counters_hold = false
          return
        end
        found[generation] = (found[generation] or 0) + 1
      end
    end
  end
  return found
end

local function recount(row, field, found)
  local stream, generation = row.stream, row.generation
  local lost = row[field] - (found or 0)
  if lost == 0 then return end
  if lost < 0 then -- the counters were lost, not the requests
    tally(stream, generation)[field] = -lost
    return
  end
  if found then set_aside(T .. ':q:' .. stream .. ' of generation ' .. generation, lost .. ' requests lost') end
  local t = tally(stream, generation)
  t[field] = -lost
  count_as(t, 'dropped', 'damaged', lost)
end

local COUNTED = {'queued', 'delayed', 'leased', 'last'}

-- What sweep looks at of generations: in one call each, as there may be many.
local function read_generations(names)
  local rows = {}
  for _, name in ipairs(names) do
    local key = T .. ':gen:' .. name
    local raw, row = call('HMGET', key, 'queued', 'delayed', 'leased', 'last', 'shares'), {name = name, key = key}
    for i, field in ipairs(COUNTED) do
      row[field] = not raw[i] and 0 or whole_number(raw[i]) or number(key, field)
    end
    row.shares = raw[5]
    row.stream, row.generation = string.match(name, '^(.*):(.*)$')
    rows[#rows + 1] = row
  end
  return rows
end

-- What the counters say is queued, by stream, and queued or delayed in all.
local function count_backlog(rows)
  local by_stream, total, delayed = {}, 0, 0
  for _, row in ipairs(rows) do
    by_stream[row.stream] = (by_stream[row.stream] or 0) + row.queued
    total, delayed = total + row.queued, delayed + row.delayed
  end
  if delayed ~= all_delayed then counters_hold = false end
  return by_stream, total + delayed
end

local groups, queued_by, backlog = {}, {}, state.backlog -- generations by spider and name, with all their streams
local names, are_all = names_in_slice()
if are_all then relist_runs() end
local rows = read_generations(names)
local queued, counted_backlog = count_backlog(rows)
local is_whole = counted_backlog == backlog or not are_all -- else counters were damaged
if call('EXISTS', T .. ':refile') == 1 then all_filed() end
for stream, counted in pairs(are_all and queued or {}) do
  if counted ~= 0 or not is_whole then queued_by[stream] = found_queued(stream, counted) end
end
local is_known, leased_by = {}, are_all and leased_by_name(rows)
for _, row in ipairs(rows) do
  local stream, generation = row.stream, row.generation
  is_known[row.name] = true
  if nothing_delayed then recount(row, 'delayed') end
  if nothing_leased then
    recount(row, 'leased')
  elseif leased_by and row.leased < (leased_by[row.name] or 0) then
    recount(row, 'leased', leased_by[row.name])
  end
  if queued_by[stream] then recount(row, 'queued', queued_by[stream][generation] or 0) end
  local spider = spider_of(stream)
  local of = spider .. ':' .. generation
  if row.shares then is_used[spider .. ':' .. row.shares] = true end
  if generation ~= '' and generation ~= (current[spider] or '0') then
    local group = groups[of] or {live = 0, last = 0, streams = {}, generation = generation}
    groups[of] = group
    group.live = group.live + row.queued + row.leased + row.delayed
    group.last = math.max(group.last, row.last)
    group.streams[#group.streams + 1] = stream
  end
end

-- Of those that have no name any more, what is queued alone tells.
for stream, found in pairs(queued_by) do
  for generation, count in pairs(found) do
    if not is_known[stream .. ':' .. generation] then tally(stream, generation).queued = count end
  end
end

local function bring_back(key, at)
  for _, member in ipairs(call('ZRANGEBYSCORE', key, FAR, '+inf', 'LIMIT', 0, HOSTS)) do
    set_aside(key .. ' ' .. string.sub(member, 1, 40), 'its time would never have come')
    call('ZADD', key, at, member)
    wake_at(at)
  end
end

for _, kind in ipairs({':delayed', ':delayed:room', ':idle'}) do bring_back(T .. kind, now) end
bring_back(T .. ':lease', now + LEASE_MS)
for stream in pairs(queued) do
  bring_back(T .. ':wait:' .. stream, now)
  bring_back(T .. ':wait:' .. stream .. '!', now)
  free_silent(stream)
  free_silent(stream .. '!')
end

local function drop_set(key)
  local set = call('HGET', key, 'set')
  if set then call('HSET', T .. ':drop', set, call('HGET', key, 'buckets') or 0) end
  call('UNLINK', key)
end

-- Only the fingerprints stay.
local function keep_set(name, key)
  for _, field in ipairs(call('HKEYS', key)) do
    if field ~= 'set' and field ~= 'mode' and field ~= 'buckets' and field ~= 'seen' then call('HDEL', key, field) end
  end
  call('ZADD', T .. ':kept', now, name)
end

local function retire(stream, generation, set_stays)
  local run, name = spider_of(stream) .. ':' .. generation, stream .. ':' .. generation
  call('UNLINK', T .. ':pages:' .. run)
  call('SREM', T .. ':limited', run)
  call('HDEL', T .. ':budgets', 'r:' .. run)
  call('HDEL', T .. ':used:0', 'r:' .. run)
  for _, kind in ipairs({'r:', 'p:'}) do call('HDEL', T .. ':shares:0', kind .. run) end
  call('HDEL', T .. ':scope', run)
  local key, retired = T .. ':gen:' .. name, T .. ':gen:' .. stream .. ':'
  local fields = {unpack(COUNTERS)}
  for _, field in ipairs(call('HKEYS', key)) do
    if string.find(field, '^cut:') or string.find(field, '^dead:') then fields[#fields + 1] = field end
  end
  for _, field in ipairs(fields) do
    local count = number(key, field)
    if count ~= 0 then call('HINCRBY', retired, field, count) end
  end
  call('SADD', T .. ':gens', stream .. ':')
  if set_stays and call('HEXISTS', key, 'set') == 1 then keep_set(name, key) else drop_set(key) end
  call('SREM', T .. ':gens', name)
end

for name, group in pairs(groups) do
  local of_run = #group.generation >= 14 and tonumber(group.generation) <= last_run
  local is_over = of_run or (group.last + RETENTION_MS <= now and not is_used[name])
  if group.live == 0 and is_over and not has_run[name] then
    for _, stream in ipairs(group.streams) do retire(stream, group.generation, of_run) end
  end
end

for _, name in ipairs(call('ZRANGEBYSCORE', T .. ':kept', '-inf', now - RETENTION_MS, 'LIMIT', 0, BUCKETS)) do
  if not is_used[name] then
    if call('SISMEMBER', T .. ':gens', name) == 0 then drop_set(T .. ':gen:' .. name) end
    call('ZREM', T .. ':kept', name)
  end
end

local left, step = 0, BUCKETS
local drops = call('HGETALL', T .. ':drop')
for i = 1, #drops, 2 do
  local set, buckets = drops[i], tonumber(string.match(drops[i + 1], '^%d+$'))
  if not buckets or buckets > MOST_BUCKETS then
    set_aside(T .. ':drop ' .. set, drops[i + 1])
    buckets = 0
  end
  while buckets > 0 and step > 0 do
    buckets, step = buckets - 1, step - 1
    call('UNLINK', T .. ':seen:' .. set .. ':' .. buckets)
  end
  if buckets > 0 then call('HSET', T .. ':drop', set, buckets) else call('HDEL', T .. ':drop', set) end
  left = left + buckets
end

-- A busy host is no longer idle, but an entry of its last idle time may still be there.
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
  call('HDEL', T .. ':blamed', unpack(forgotten))
  call('HDEL', T .. ':address', unpack(forgotten))
end
if #forgotten > 0 and call('EXISTS', T .. ':budgets') == 1 then
  for _, name in ipairs(forgotten) do call('HDEL', T .. ':budgets', 'v:' .. name) end
end
if #overdue > 0 then call('ZREM', T .. ':idle', unpack(overdue)) end
state.again = call('HLEN', T .. ':dead:again')
if next(unsettled) then save_hosts() end
save_tallies()
if not is_whole then
  if counters_hold then lost_generations() end -- the counters may be there, and only their name be lost
  local _, total = count_backlog(read_generations(generation_names()))
  state.backlog = counters_hold and total or math.max(backlog, total + 1)
end
save_state()
return left + (#overdue == HOSTS and 1 or 0) + (looks_on() and 1 or 0)
