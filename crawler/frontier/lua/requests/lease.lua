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
-- leased from that has an address: host, address}}. O(log hosts) per request leased, and up to `drops` requests
-- (lib/admit) of runs that reached their page limit.
-- include: clock damage state tally lose_one hosts addresses turns rules members shares pages records budgets control
-- include: heads admit hand_out
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
local places = {sought = {}, found = {}}
local leaving, to_due, to_wait, to_cap = {}, {}, {}, {} -- where hosts are filed after this round

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

-- Leases up to `most` requests at the head of a host's queue; returns the entry behind them, or nil.
local function lease_heads(stream, base, name, h, address, a, most, budgets)
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
  if #given == 0 then return first and skip_over_limit(base, place, name) end
  if paced then reserve(h, a) end
  for _, entry in ipairs(given) do hand_out(base, name, entry, h[NEXT], worker) end
  h[INFLIGHT] = h[INFLIGHT] + #given
  if a then
    a[INFLIGHT] = a[INFLIGHT] + #given
    local found = places.found
    found[#found + 1], found[#found + 2] = name, address
  end
  return first
end

-- A host that is filed on a stream, made anew if its record was lost; nil where nothing is queued there.
local function host_at_work(stream, base, name)
  local h = host(name)
  if has_stream(h, stream) then return h end
  h = rebuilt(name, h[RAW], base)
  hosts[name] = h
  return has_stream(h, stream) and h or nil
end

-- Leases up to `most` requests of a host and records when it may be visited again. is_first: of its address' line,
-- whose turn has come.
local function visit_host(stream, base, name, most, is_first)
  local h = host_at_work(stream, base, name)
  if not h then
    leaving[#leaving + 1] = name
    return
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
    local first = lease_heads(stream, base, name, h, address, a, most, budgets)
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
write_leases()
local wait = leased < limit and visits > 0 and drops > 0 and next_due() or 0
save()
return {state.born, state.seq, now, wait, state.backlog, suspects, rows, places.sought, places.found}
