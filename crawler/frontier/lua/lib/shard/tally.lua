-- Counters, and times of the last push and acknowledgement, per stream and crawl generation:
-- T:gen:<stream>:<generation> HASH, T:gens SET of these names.
-- accepted = queued + leased + delayed + dead + done + dropped, always, and none is below 0. gone: those of `done`
-- whose site refuses them for good. retried: dead letters that went to another run, and are counted there.
-- 'dead:<reason>', 'dropped:<reason>', 'retried:<reason>': how many of these for which reason.
-- 'cut:<rule>': what was out of scope; what was accepted before that was known counts as dropped, too.
local tallies = {}

local function tally(stream, generation)
  local of_stream = tallies[stream]
  if not of_stream then
    of_stream = {}
    tallies[stream] = of_stream
  end
  local t = of_stream[generation]
  if not t then
    t = {
      accepted = 0, queued = 0, leased = 0, delayed = 0, dead = 0, done = 0, dropped = 0, gone = 0, retried = 0,
      duplicates = 0, duplicates_dead = 0, refused = 0, nacked = 0, reaped = 0,
    }
    of_stream[generation] = t
  end
  return t
end

local function count_as(t, state, reason, by)
  local why = state .. ':' .. tostring(reason)
  t[state], t[why] = t[state] + by, (t[why] or 0) + by
end

-- One that was accepted is dropped, as a limit of its run is reached.
local function count_cut(t, reason)
  count_as(t, 'dropped', reason, 1)
  t['cut:' .. reason] = (t['cut:' .. reason] or 0) + 1
end

-- The counters of finished requests; those of a finished generation have moved to the generation ''.
local function final_tally(stream, generation)
  local of_stream = tallies[stream]
  local is_there = of_stream and of_stream[generation]
    or call('HEXISTS', T .. ':gen:' .. stream .. ':' .. generation, 'accepted') == 1
  return tally(stream, is_there and generation or '')
end

-- A dead letter goes to another run, which has accepted its page: the run that t counts keeps it as retried.
local function count_retried(t, letter)
  t.accepted = t.accepted - 1
  count_as(t, 'dead', letter.reason, -1)
  count_as(t, 'retried', letter.reason, 1)
end

-- A generation that lost nothing was blamed for what damage took from another one: see lose_one. Returns what is still
-- to be taken from others.
local function take_back(key, field, lost)
  if (tonumber(call('HGET', key, 'dropped:damaged') or nil) or 0) < lost then return 0 end
  call('HINCRBY', key, field, lost)
  call('HINCRBY', key, 'dropped', -lost)
  call('HINCRBY', key, 'dropped:damaged', -lost)
  if field == 'queued' then state.backlog = state.backlog + lost end
  return lost
end

local function put_right(stream, key, field)
  local lost = take_back(key, field, -tonumber(call('HGET', key, field)))
  for _, name in ipairs(generation_names()) do
    local other = T .. ':gen:' .. name
    local most = math.min(lost, tonumber(call('HGET', other, field) or nil) or 0)
    if most > 0 and string.match(name, '^(.*):') == stream then
      take_back(other, field, -most)
      lost = lost - most
    end
  end
end

local function save_tallies()
  local below_0 = {}
  for stream, of_stream in pairs(tallies) do
    for generation, t in pairs(of_stream) do
      local name = stream .. ':' .. generation
      local key = T .. ':gen:' .. name
      local cut = 0
      for field, by in pairs(t) do
        local count = by ~= 0 and call('HINCRBY', key, field, by) or 0
        if count < 0 and (field == 'queued' or field == 'leased') then
          below_0[#below_0 + 1] = {stream, key, field}
        elseif count < 0 and (field == 'dead' or string.sub(field, 1, 5) == 'dead:') then
          call('HINCRBY', key, field, -count) -- the counters were lost, the letter was not
          if field == 'dead' then call('HINCRBY', key, 'accepted', -count) end
        end
        if by ~= 0 and string.sub(field, 1, 4) == 'cut:' then cut = cut + by end
        if by > 0 and count == by and (field == 'queued' or field == 'delayed') then add_generation(name) end
      end
      local worked = t.accepted + t.duplicates + t.duplicates_dead + t.refused + t.done + cut > 0
      if worked and call('HSET', key, 'last', now) == 1 then add_generation(name) end
      state.backlog = state.backlog + t.queued + t.delayed
    end
  end
  for _, one in ipairs(below_0) do put_right(unpack(one)) end
end
