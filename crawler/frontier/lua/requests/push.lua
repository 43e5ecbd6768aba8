#!lua
-- push: accept a batch of requests, once per fingerprint and generation.
-- KEYS[1]  the shard's tag
-- ARGV[1]  '1' for children of leased work, never refused for fullness
-- ARGV[2]  '1' while memory is above its mark
-- ARGV[3]  number of hosts
-- ARGV[4...]  these hosts, then the requests, grouped by host: not before ms (d), delay ms (I4), cap (H),
--             burst (H), 1 to deduplicate (B), most pages of the run (I4), of the host in it (I4), links from a pushed
--             page (B), host, stream, generation, fingerprint in digits (each length-prefixed),
--             envelope
-- Result: of each ACCEPTED, DUPLICATE, DUPLICATE_DEAD (of a dead letter of the same run), FULL, MEMORY or CANCELLED
-- (its run was).
-- O(1) per request, and one bucket of fingerprints split per LOAD accepted. The server refuses it at maxmemory.
-- Requests beyond a run's page limit are accepted and dropped at once, see lib/pages.
-- include: clock damage state tally hosts addresses rules members shares pages queue seen control ports
-- include window: dropped
local ROW = '>dI4HHBI4I4BBc0Bc0Bc0Bc0h'
local ACCEPTED, DUPLICATE, DUPLICATE_DEAD, FULL, MEMORY, CANCELLED = 0, 1, 2, 3, 4, 5
local OUTCOMES = {[ACCEPTED] = 'accepted', 'duplicates', 'duplicates_dead', 'refused', 'refused', 'refused'}
local forced, low_memory = ARGV[1] == '1', ARGV[2] == '1'
local any_dead = call('EXISTS', T .. ':dead:fp') == 1
local room = forced and math.huge or QUEUE_LIMIT - state.backlog

-- Of a page that is dead and is not being tried again: whether this run knows that, which of an older release's
-- letters is not known yet; else the ids of its letters, and whether one of their runs used the same fingerprints.
local function dead_before(stream, generation, envelope)
  local name = dead_name(stream, envelope)
  if call('HEXISTS', T .. ':dead:fp', name) == 0 or call('HEXISTS', T .. ':dead:again', name) == 1 then return end
  local ids, same_set = call('HGET', T .. ':dead:id', name), false
  if not ids then return true end
  local key = T .. ':gen:' .. spider_of(stream) .. ':' .. generation
  local since = tonumber(call('HGET', key, 'since') or nil) or 0
  local owner = owner_of(stream, generation) or generation
  for id in string.gmatch(ids, '%d+') do
    local ok, letter = pcall(cmsgpack.unpack, call('HGET', T .. ':dead', id) or '')
    if ok and type(letter) == 'table' then
      if letter.generation == generation and since <= (tonumber(letter.at) or 0) then return true end
      same_set = same_set or (letter.shares or letter.generation) == owner
    end
  end
  return false, ids, same_set
end

local function judge(stream, generation, envelope, dedupe, digits)
  if is_cancelled(stream, generation) then return CANCELLED end
  if low_memory and not forced then return MEMORY end
  if room <= 0 then return FULL end
  local is_ours, ids, same_set
  if any_dead then is_ours, ids, same_set = dead_before(stream, generation, envelope) end
  if is_ours and dedupe then return DUPLICATE_DEAD end
  local set = seen_set(stream, generation)
  if set.closed and forced and dedupe then return DUPLICATE end
  local is_new = enter(set, envelope, dedupe, digits)
  if not is_new and not (ids and same_set and set.mode ~= 'window') then return DUPLICATE end
  if ids then
    call('HSET', T .. ':dead:again', dead_name(stream, envelope), ids)
    state.again = state.again + 1
  end
  return ACCEPTED
end

-- Whether it probes a host of which another port is down.
local function is_probe(name, envelope)
  local blamed = host(name)[TRIPS] > 0 and call('HGET', T .. ':blamed', name)
  local origin = blamed and origin_of(name, envelope)
  return origin and origin ~= blamed
end

local first = 4 + ARGV[3]
load_hosts({unpack(ARGV, 4, first - 1)})
local result = {}
for i = first, #ARGV do
  local row = ARGV[i]
  local not_before, delay, cap, burst, dedupe, pages, of_host, depth, name, stream, generation, digits, priority,
    at = struct.unpack(ROW, row)
  local envelope = string.sub(row, at - 2)
  local outcome = judge(stream, generation, envelope, dedupe == 1, digits)
  local t, event = tally(stream, generation), OUTCOMES[outcome]
  t[event] = t[event] + 1
  result[i - first + 1] = outcome
  local run = run_name(stream, generation)
  limit_pages(run, name, pages, of_host)
  local reached = outcome == ACCEPTED and is_limited(run) and limit_reached(run, name)
  if reached and reached ~= 'share' then
    drop_page(stream, generation, reached, envelope)
  elseif outcome == ACCEPTED then
    room = room - 1
    state.seq = state.seq + 1
    local member = member_of(state.seq, 0, 0, envelope)
    turn_to(stream, name)
    configure(name, stream, delay, cap, burst)
    if not_before > now then
      delay_until(not_before, stream, name, member)
      t.delayed = t.delayed + 1
    else
      local score = is_limited(run) and ranked_score(priority, depth) or score_of(priority)
      if is_probe(name, envelope) then
        score = score_before(place_of(stream, name))
        try_now(name, host(name))
      end
      enqueue(stream, name, score, member, priority)
      t.queued = t.queued + 1
    end
  end
end
save()
return result
