#!lua flags=allow-oom
-- lease: hand out requests of hosts that may be visited now.
-- KEYS[1]  the shard's tag
-- ARGV[1]  how many
-- ARGV[2]  worker
-- ARGV[3]  '1' when a suspect may be leased (alone)
-- ARGV[4]  '1' when reap has just run
-- ARGV[5]  what the worker states (see lib/rules), '' for nothing
-- ARGV[6]  number of streams
-- ARGV[7...]  these streams, then hosts to pass over
-- Result: {}: reap first; {0}: the worker has to state its rules; else {born, seq, now, ms until more may be due or
-- -1, backlog, suspects waiting, {per request: id, record, envelope}, {hosts to look up, see lib/addresses}, {per host
-- leased from that has an address: host, address}}. O(log hosts) per request leased, and up to DROPS requests of runs
-- that reached their page limit (lib/pages).
-- include: clock damage state tally blame hosts addresses turns rules members shares pages records budgets control
-- include window: seen dropped
if ARGV[4] ~= '1' and state.alarm > 0 and state.alarm <= now then return {} end
if ARGV[5] ~= '' and not is_live(call('ZSCORE', T .. ':rules', ARGV[5])) then return {0} end
local limit, worker = tonumber(ARGV[1]), ARGV[2]
local streams, passed_over, excluded = {}, {}, #ARGV - 6 - ARGV[6]
for i = 7, 6 + ARGV[6] do
  if not is_said('pause', 'spider', spider_of(ARGV[i])) then streams[#streams + 1] = ARGV[i] end
end
for i = 7 + ARGV[6], #ARGV do passed_over[ARGV[i]] = true end

-- Due hosts are ordered by due time and by the priority of their most urgent request.
local function promote(stream, most)
  local wait = T .. ':wait:' .. stream
  local ready = call('ZRANGEBYSCORE', wait, '-inf', now, 'WITHSCORES', 'LIMIT', 0, most)
  if #ready == 0 then return end
  local names, due = {}, {}
  for i = 1, #ready, 2 do names[#names + 1] = ready[i] end
  load_hosts(names)
  for i = 1, #ready, 2 do
    due[i], due[i + 1] = ready[i + 1] - host(ready[i])[LEAD] * STEP_MS, ready[i]
  end
  call('ZREM', wait, unpack(names))
  call('ZADD', T .. ':due:' .. stream, unpack(due))
end

local REACH = 1000 -- hosts read per call
local PAUSED_MS = 2000 -- until a paused host is checked again

local SOUGHT, LOOK_UP_MS, FULL_MS = 64, 5000, 200 -- hosts to look up per call; until another worker is asked

local visits = 4 * limit + 12 -- hosts examined: some that are due may turn out to be blocked or at their cap
local leased, rows, names_behind = 0, {}, {}
local places = {sought = {}, found = {}}
local limits = call('EXISTS', T .. ':limited') == 1
local records, bodies, expiries = {}, {}, {}

-- The part of a record after the host, built once for all requests of a stream and generation.
local function after_host(base, generation)
  local key = base .. ':' .. generation
  local names = names_behind[key] or string.sub(names_of('', base, generation, worker), 2)
  names_behind[key] = names
  return names
end

-- Invalid entries are set aside, and no longer counted as queued.
local function whole_of(heads, base, place)
  local whole = {}
  for _, entry in ipairs(heads) do
    if #entry >= 29 and pcall(struct.unpack, '>dI6BHhxxxxxxxxBc0Bc0', entry) then
      whole[#whole + 1] = entry
    else
      set_aside(T .. ':q:' .. place .. ' ' .. string.sub(entry, 1, 40), entry)
      lose_one(base, 'queued')
      call('LREM', T .. ':q:' .. place, 1, entry)
      if call('ZREM', T .. ':early:' .. place, entry) == 1 then state.ahead = state.ahead - 1 end
    end
  end
  return whole
end

local function hand_out(base, name, entry, reserved)
  local score, id, deliveries, status, _, _, generation = struct.unpack('>dI6BHhxxxxxxxxBc0Bc0', entry)
  local envelope, at = string.sub(entry, 18), 2 * leased
  leased = leased + 1
  state.token = math.max(state.token + 1, now * 1024) -- never one issued before the server lost its last second
  local record = struct.pack(HEAD_FORMAT, state.token, score, reserved, now + START_MS, 0, deliveries, 0, status)
    .. string.char(#name) .. name .. after_host(base, generation)
  records[at + 1], records[at + 2] = id, record
  bodies[at + 1], bodies[at + 2] = id, envelope
  expiries[at + 1], expiries[at + 2] = now + LEASE_MS, id
  rows[#rows + 1], rows[#rows + 2], rows[#rows + 3] = id, record, envelope
  local t = tally(base, generation)
  t.queued, t.leased = t.queued - 1, t.leased + 1
end

local SLICE = 64 -- requests examined together
local drops, dropped = 256, 0 -- per call, so that no call takes long

-- An entry that waits for its run's budget or pages.
local function put_back(base, name, entry, at)
  wake_at(at)
  call('ZADD', T .. ':delayed', at, struct.pack('>Bc0Bc0', #base, base, #name, name) .. string.sub(entry, 9))
  local t = tally(base, generation_of(string.sub(entry, 9)))
  t.queued, t.delayed, drops, dropped = t.queued - 1, t.delayed + 1, drops - 1, dropped + 1
  return false
end

-- Whether the run of an entry may fetch another page of the host; if not, it is dropped.
local function admit(base, name, entry)
  local generation = generation_of(string.sub(entry, 9))
  local run = run_name(base, generation)
  local reached = is_limited(run) and limit_reached(run, name)
  if not reached then
    count_page(base, generation, name, 1)
    return true
  end
  if reached == 'share' then return put_back(base, name, entry, now + WANT_MS) end
  drop_page(base, generation, reached, string.sub(entry, 18))
  local t = tally(base, generation)
  t.queued, drops, dropped = t.queued - 1, drops - 1, dropped + 1
end

local leaving, to_due, to_wait, to_cap = {}, {}, {}, {} -- where hosts are filed after this round

local function goes_before(a, b)
  local score, id = struct.unpack('>dI6', a)
  local other_score, other_id = struct.unpack('>dI6', b)
  return score < other_score or (score == other_score and id < other_id)
end

-- The first entries; again while some were invalid, or a queue that begins with those would be taken for empty.
local function first_of(command, key, base, place, room)
  local whole, read
  repeat
    read = call(command, key, 0, room)
    whole = whole_of(read, base, place)
  until #whole == #read
  return whole
end

-- The first entries of a queue in their order, `room` and one more, and which of them are ahead of its list.
local function heads_of(base, place, room)
  local list, ahead, is_ahead = T .. ':q:' .. place, T .. ':early:' .. place, {}
  local heads = first_of('LRANGE', list, base, place, room)
  if state.ahead > 0 then
    for _, entry in ipairs(first_of('ZRANGE', ahead, base, place, room)) do
      heads[#heads + 1], is_ahead[entry] = entry, true
    end
    table.sort(heads, goes_before)
  end
  return heads, is_ahead
end

-- Takes up to `room` entries off a queue; returns them in order, followed by the next one, and their number.
local function pop_entries(base, place, room)
  local heads, is_ahead = heads_of(base, place, room)
  local taken, from_ahead = math.min(room, #heads), 0
  for i = 1, taken do
    if is_ahead[heads[i]] then from_ahead = from_ahead + 1 end
  end
  if taken > from_ahead then call('LTRIM', T .. ':q:' .. place, taken - from_ahead, -1) end
  if from_ahead > 0 then
    call('ZREMRANGEBYRANK', T .. ':early:' .. place, 0, from_ahead - 1)
    state.ahead = state.ahead - from_ahead
  end
  return heads, taken
end

local function is_held_back(base, generation)
  return is_cancelled(base, generation) or is_said('pause', 'run', run_named(base, generation))
end

-- Sets aside an entry of a paused or cancelled run; false for others.
local function set_apart(base, place, name, entry)
  local generation = is_controlled and generation_of(string.sub(entry, 9))
  if not (generation and is_held_back(base, generation)) then return false end
  local t = tally(base, generation)
  t.queued, t.delayed, drops = t.queued - 1, t.delayed + 1, drops - 1
  if string.sub(place, #base + 1, #base + 1) == '!' then state.suspects = state.suspects - 1 end
  call('ZADD', T .. ':delayed:aside', struct.unpack('>d', entry),
    struct.pack('>Bc0Bc0', #base, base, #name, name) .. string.sub(entry, 9))
  return true
end

-- Whether an entry is leased; if not, it is dropped or waits until its run's budget renews.
local function may_go(base, name, entry)
  local run = has_budgets() and budget_of_run(spider_of(base), generation_of(string.sub(entry, 9)))
  local held = run and held_until({run})
  if held then return put_back(base, name, entry, held) end
  if limits and not admit(base, name, entry) then return false end
  if run then spend(run, 1, 0, 0, 0) end
  return true
end

-- Whether a request of that generation would not be leased now.
local function stays(base, name, generation)
  local run = run_name(base, generation)
  if is_held_back(base, generation) or (is_limited(run) and limit_reached(run, name)) then return true end
  local budget = has_budgets() and budget_of_run(spider_of(base), generation)
  return budget and held_until({budget}) ~= nil
end

-- Drops entries over their limit at the head of a queue, and sets aside those held back; returns the rest.
local function skip_over_limit(base, place, name)
  repeat
    local heads, over = heads_of(base, place, SLICE - 1), 0
    while over < math.min(#heads, drops) do
      if not stays(base, name, generation_of(string.sub(heads[over + 1], 9))) then break end
      over = over + 1
    end
    if over == 0 then return heads[1] end
    for i, entry in ipairs((pop_entries(base, place, over))) do
      if i <= over and not set_apart(base, place, name, entry) then may_go(base, name, entry) end
    end
  until drops <= 0
  return heads_of(base, place, 0)[1]
end

local function put_aside(name, until_ms)
  leaving[#leaving + 1], to_wait[#to_wait + 1], to_wait[#to_wait + 2] = name, until_ms, name
end

-- Whether a host has to be looked up before it is visited: it is held until then. One whose look-up is out of date goes
-- on meanwhile.
local function must_be_found(name, h)
  address_of(name)
  local at = located and located[name]
  if at and at[1] > now then return false end
  local sought = places.sought
  if #sought < SOUGHT then sought[#sought + 1] = name end
  if at then return false end
  h[HOLD] = now + (sought[#sought] == name and LOOK_UP_MS or FULL_MS)
  put_aside(name, h[HOLD])
  return true
end

local function file_away(name, h)
  leaving[#leaving + 1] = name
  if is_full(h) then
    to_cap[#to_cap + 1] = name
  else
    to_wait[#to_wait + 1], to_wait[#to_wait + 2] = look_at(h, ready_at(h)), name
  end
end

-- A host whose own turn has come waits in the line of its address.
local function stand_in_line(stream, name, h, address, a)
  leaving[#leaving + 1] = name
  call('ZADD', line_of(stream, address), score_of(h[LEAD]), name)
  if has_stream(a, stream) then return end
  a[LEAD] = h[LEAD]
  a[STREAMS] = a[STREAMS] .. '\n' .. stream .. '\n'
  file_away(address, a)
end

-- Leases up to `most` requests of a host and records when it may be visited again. is_first: of its address' line,
-- whose turn has come.
local function visit_host(stream, base, name, most, is_first)
  local h = host(name)
  if not has_stream(h, stream) then -- its record was lost
    h = rebuilt(name, h[RAW])
    hosts[name] = h
  end
  enforce(name, h, spider_of(base))
  if is_said('pause', 'host', name) then return put_aside(name, now + PAUSED_MS) end
  local at = ready_at(h)
  if at <= now and statements.by_address and must_be_found(name, h) then return end
  local budgets = at <= now and has_budgets() and budgets_for(name, spider_of(base)) or {}
  local held = #budgets > 0 and held_until(budgets)
  if held then return put_aside(name, math.min(held, now + LOOK_MS)) end
  if at <= now then
    local address = statements.by_address and address_of(name)
    local a = address and host(address) or nil
    if a and not is_first then
      enforce_address(address, a, h)
      if ready_at(a) > now or call('EXISTS', line_of(stream, address)) == 1 then
        return stand_in_line(stream, name, h, address, a)
      end
    end
    local paced = h[DELAY] > 0 or (a ~= nil and a[DELAY] > 0)
    local room = paced and 1 or math.min(most, width(h) - h[INFLIGHT])
    if a then room = math.min(room, width(a) - a[INFLIGHT]) end
    room = math.max(1, math.min(room, requests_left(budgets)))
    local place = place_of(stream, name)
    local heads, taken = pop_entries(base, place, room)
    local given, first = {}, heads[taken + 1]
    for i = 1, taken do
      if not set_apart(base, place, name, heads[i]) and may_go(base, name, heads[i]) then
        given[#given + 1] = heads[i]
      end
    end
    for _, budget in ipairs(budgets) do spend(budget, #given, 0, 0, 0) end
    if #given > 0 and paced then reserve(h, a) end
    for _, entry in ipairs(given) do hand_out(base, name, entry, h[NEXT]) end
    h[INFLIGHT] = h[INFLIGHT] + #given
    if a and #given > 0 then
      a[INFLIGHT] = a[INFLIGHT] + #given
      local found = places.found
      found[#found + 1], found[#found + 2] = name, address
    end
    if #given == 0 and first then first = skip_over_limit(base, place, name) end
    if not first then
      remove_stream(h, stream)
      leaving[#leaving + 1] = name
      return
    end
    h[LEAD] = struct.unpack('>h', first, 18)
    at = ready_at(h)
    if at <= now then
      to_due[#to_due + 1], to_due[#to_due + 2] = score_of(h[LEAD]), name
      return
    end
  end
  file_away(name, h)
end

local ABREAST = 8

-- Visits the first hosts in the line of an address, until one is leased from.
local function visit_line(stream, base, address)
  local a, line, before = host(address), line_of(stream, address), leased
  enforce_address(address, a, a)
  if ready_at(a) > now then return file_away(address, a) end
  for _, name in ipairs(call('ZRANGE', line, 0, ABREAST - 1)) do
    if leased == before and not passed_over[name] then
      call('ZREM', line, name)
      visit_host(stream, base, name, 1, true)
      visits = visits - 1
    end
  end
  local first = call('ZRANGE', line, 0, 0)[1]
  if not first then
    remove_stream(a, stream)
    leaving[#leaving + 1] = address
    return
  end
  a[LEAD] = host(first)[LEAD]
  if ready_at(a) > now then return file_away(address, a) end
  if leased == before then return put_aside(address, now + FULL_MS) end -- all of them are passed over, or held
  to_due[#to_due + 1], to_due[#to_due + 2] = score_of(a[LEAD]), address
end

local function file(stream)
  if #to_due > 0 then call('ZADD', T .. ':due:' .. stream, unpack(to_due)) end
  if #leaving > 0 then call('ZREM', T .. ':due:' .. stream, unpack(leaving)) end
  if #to_wait > 0 then call('ZADD', T .. ':wait:' .. stream, unpack(to_wait)) end
  if #to_cap > 0 then call('SADD', T .. ':park:' .. stream, unpack(to_cap)) end
  leaving, to_due, to_wait, to_cap = {}, {}, {}, {}
end

local function lease_from(stream, base, most)
  local progress
  repeat
    local reach = math.min(most - leased + excluded, REACH)
    promote(stream, reach) -- again: some of those may be at their cap
    progress = false
    local names = call('ZRANGE', T .. ':due:' .. stream, 0, reach - 1)
    load_hosts(names)
    local share = math.max(1, math.floor((most - leased) / #names))
    for _, name in ipairs(names) do
      if leased >= most or visits <= 0 then break end
      if not passed_over[name] then
        local is_address = located and string.sub(name, 1, 3) == ADDRESS
        if is_address and call('EXISTS', line_of(stream, name)) == 1 then
          visit_line(stream, base, name)
        else
          visit_host(stream, base, name, math.min(share, most - leased))
        end
        progress, visits = true, visits - 1
      end
    end
    file(stream)
  until leased >= most or not progress
end

-- Hosts at their cap are left out: a report calls them back.
local function next_due()
  local soonest = math.huge
  for _, kind in ipairs({':delayed', ':delayed:room'}) do
    local at = call('ZRANGE', T .. kind, 0, 0, 'WITHSCORES')[2]
    if at then soonest = math.min(soonest, tonumber(at)) end
  end
  for _, stream in ipairs(streams) do
    local at = call('ZRANGE', T .. ':wait:' .. stream, 0, 0, 'WITHSCORES')[2]
    if at then soonest = math.min(soonest, tonumber(at)) end
  end
  return soonest < math.huge and math.max(0, soonest - now) or -1
end

local suspects = 0
if state.suspects > 0 then
  for _, stream in ipairs(streams) do
    local apart = stream .. '!'
    if ARGV[3] == '1' and leased == 0 then lease_from(apart, stream, 1) end
    suspects = suspects + call('ZCARD', T .. ':due:' .. apart) + call('ZCARD', T .. ':wait:' .. apart)
      + call('SCARD', T .. ':park:' .. apart)
  end
  state.suspects = state.suspects - leased - dropped
end
if leased == 0 then
  for _, stream in ipairs(streams) do
    if leased < limit then lease_from(stream, stream, limit) end
  end
end
if leased > 0 then
  call('HSET', T .. ':infl', unpack(records))
  call('HSET', T .. ':body', unpack(bodies))
  call('ZADD', T .. ':lease', unpack(expiries))
  wake_at(now + LEASE_MS)
end
local wait = leased < limit and visits > 0 and drops > 0 and next_due() or 0
save()
return {state.born, state.seq, now, wait, state.backlog, suspects, rows, places.sought, places.found}
