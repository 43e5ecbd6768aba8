#!lua flags=allow-oom
-- lease: hand out requests of hosts that may be visited now. Also takes back expired leases and queues what was
-- delayed until now, a few of each per call: there is no leader and no timer.
-- KEYS[1] the shard's tag. ARGV[1] msgpack array of streams, ARGV[2] how many, ARGV[3] worker, ARGV[4] '1' when a
-- suspect may be given (alone), ARGV[5] msgpack array of hosts to pass over.
-- Result: {born, now, ms until more may be due or -1, backlog, suspects waiting,
--          {id, token, host, stream, deliveries, start within ms, envelope}...}
-- O(log hosts) per request leased.
-- include: clock state generations hosts queue leases seen dead
local REAPED, RELEASED = 8, 64
local streams, limit, worker = cmsgpack.unpack(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local excluded, passed_over = cmsgpack.unpack(ARGV[5]), {}
for _, name in ipairs(excluded) do passed_over[name] = true end
local result, token = {}, math.max(state.token, now * 1024)

local function reap()
  if now < state.pause then return end
  local ids = call('ZRANGEBYSCORE', T .. ':lease', '-inf', now, 'LIMIT', 0, REAPED)
  if #ids == 0 then return end
  local raws, envelopes = call('HMGET', T .. ':infl', unpack(ids)), call('HMGET', T .. ':body', unpack(ids))
  for i, id in ipairs(ids) do
    local r = read_record(raws[i])
    r.reserved = -1 -- its reservation stands: a frozen worker may still wake before start_by
    release(r, nil)
    if r.stream ~= '' then
      count(r.stream, r.generation, 'reaped', 1)
      if r.deliveries >= MAX_DELIVERIES then
        add_dead(id, r, envelopes[i], 'deliveries', '')
      else
        requeue(tonumber(id), r, r.deliveries, envelopes[i])
      end
    end
  end
  forget_leases(ids)
end

local function queue_delayed()
  local due = call('ZRANGEBYSCORE', T .. ':delayed', '-inf', now, 'LIMIT', 0, RELEASED)
  for _, entry in ipairs(due) do
    local stream, name, at = struct.unpack('>Bc0Bc0', entry)
    local member = string.sub(entry, at)
    local _, deliveries = struct.unpack('>I6B', member)
    enqueue(lane(stream, deliveries), name, score_of(priority_of(member)), member)
    count(stream, generation_of(member), 'delayed', -1)
    count(stream, generation_of(member), 'queued', 1)
  end
  if #due > 0 then call('ZREM', T .. ':delayed', unpack(due)) end
end

-- Hosts whose time has come are ordered by it and by the priority of their first request.
local function promote(stream, wanted)
  local wait = T .. ':wait:' .. stream
  local ready = call('ZRANGEBYSCORE', wait, '-inf', now, 'WITHSCORES', 'LIMIT', 0, wanted)
  if #ready == 0 then return end
  local names, due = {}, {}
  for i = 1, #ready, 2 do
    local first = call('ZRANGE', T .. ':q:' .. stream .. ':' .. ready[i], 0, 0)[1]
    names[#names + 1] = ready[i]
    due[#due + 1] = ready[i + 1] - priority_of(first) * STEP_MS
    due[#due + 1] = ready[i]
  end
  call('ZREM', wait, unpack(names))
  call('ZADD', T .. ':due:' .. stream, unpack(due))
end

local records, bodies, expiries = {}, {}, {}

local function hand_out(stream, name, member, score, reserved)
  local id, deliveries, status, at = struct.unpack('>I6BH', member)
  local envelope, generation = string.sub(member, at), generation_of(member)
  token = token + 1
  local base = string.gsub(stream, '!$', '')
  records[#records + 1], records[#records + 2] = id, write_record({
    token = token, score = score, reserved = reserved, start_by = now + START_MS, started = 0, released = 0,
    deliveries = deliveries, status = status, stream = base, host = name, generation = generation, worker = worker,
  })
  bodies[#bodies + 1], bodies[#bodies + 2] = id, envelope
  expiries[#expiries + 1], expiries[#expiries + 2] = now + LEASE_MS, id
  count(base, generation, 'queued', -1)
  count(base, generation, 'leased', 1)
  result[#result + 1] = {id, token, name, base, deliveries, START_MS, envelope}
end

-- Leases up to `most` requests of a host and files the host under the time it may be visited next.
local function visit(stream, name, most)
  local due, wait, queue = T .. ':due:' .. stream, T .. ':wait:' .. stream, T .. ':q:' .. stream .. ':' .. name
  local h = host(name)
  local at = ready_at(h)
  local left
  if at <= now then
    touch(name)
    local room = h.delay > 0 and 1 or math.min(most, h.width - h.inflight)
    local heads = call('ZRANGE', queue, 0, room, 'WITHSCORES')
    local taken = math.min(room, #heads / 2)
    if h.delay > 0 then h.next = now + START_MS + h.delay end
    for i = 1, taken do hand_out(stream, name, heads[2 * i - 1], tonumber(heads[2 * i]), h.next) end
    call('ZREMRANGEBYRANK', queue, 0, taken - 1)
    h.inflight = h.inflight + taken
    left = heads[2 * taken + 1]
    at = ready_at(h)
    if not left then
      h.streams[stream] = nil
      call('ZREM', due, name)
      return
    elseif at <= now then
      call('ZADD', due, score_of(priority_of(left)), name)
      return
    end
  end
  call('ZREM', due, name)
  call('ZADD', wait, at, name)
end

local function lease_from(stream, most)
  promote(stream, 2 * most)
  local progress = true
  while #result < most and progress do
    progress = false
    local names = call('ZRANGE', T .. ':due:' .. stream, 0, most - #result - 1 + #excluded)
    local share = math.max(1, math.floor((most - #result) / math.max(1, #names)))
    for _, name in ipairs(names) do
      if #result >= most then break end
      if not passed_over[name] then
        local before = #result
        visit(stream, name, math.min(share, most - #result))
        progress = progress or #result > before
      end
    end
  end
end

local function next_due()
  local soonest = call('ZRANGE', T .. ':delayed', 0, 0, 'WITHSCORES')[2]
  for _, stream in ipairs(streams) do
    if call('EXISTS', T .. ':due:' .. stream) == 1 then return 0 end
    local at = call('ZRANGE', T .. ':wait:' .. stream, 0, 0, 'WITHSCORES')[2]
    if at and (not soonest or tonumber(at) < tonumber(soonest)) then soonest = at end
  end
  return soonest and math.max(0, tonumber(soonest) - now) or -1
end

reap()
queue_delayed()
flush_queue()
local suspects = 0
for _, stream in ipairs(streams) do
  if ARGV[4] == '1' and #result == 0 then lease_from(stream .. '!', 1) end
  suspects = suspects + call('ZCARD', T .. ':due:' .. stream .. '!') + call('ZCARD', T .. ':wait:' .. stream .. '!')
end
if suspects == 0 or #result == 0 then
  for _, stream in ipairs(streams) do
    if #result < limit then lease_from(stream, limit) end
  end
end
if #result > 0 then
  put('token', token)
  call('HSET', T .. ':infl', unpack(records))
  call('HSET', T .. ':body', unpack(bodies))
  call('ZADD', T .. ':lease', unpack(expiries))
end
local soonest = #result < limit and next_due() or 0
save_seen()
save_all()
return {state.born, now, soonest, state.backlog, suspects, unpack(result)}
