-- The first entries of a queue (see lib/queue): read in their order, and taken off it, from both of its keys.

-- Invalid entries are set aside, and no longer counted as queued. state.ahead may not have counted them: too low, it
-- would hide others.
local function whole_of(heads, base, place)
  local whole = {}
  for _, entry in ipairs(heads) do
    local ok, score = pcall(struct.unpack, ENTRY_FORMAT, entry)
    if ok and score == score and #entry >= ENTRY_BYTES then
      whole[#whole + 1] = entry
    else
      set_aside(T .. ':q:' .. place .. ' ' .. string.sub(entry, 1, 40), entry)
      lose_one(base, 'queued')
      call('LREM', T .. ':q:' .. place, 1, entry)
      call('ZREM', T .. ':early:' .. place, entry)
    end
  end
  return whole
end

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
