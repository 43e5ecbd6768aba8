-- Dead letters: T:dead HASH id -> msgpack map, T:dead:at ZSET id -> ms. A bad entry of a start-URLs key has no host
-- and no generation.
local function letter_of(id)
  local raw = call('HGET', T .. ':dead', id)
  return raw and cmsgpack.unpack(raw)
end

local function remove_letter(id, letter)
  call('HDEL', T .. ':dead', id)
  call('ZREM', T .. ':dead:at', id)
  local name = dead_name(letter.stream, letter.envelope)
  if letter.host ~= '' and call('HINCRBY', T .. ':dead:fp', name, -1) <= 0 then
    call('HDEL', T .. ':dead:fp', name)
  end
end

local function drop_letter(id)
  local letter = letter_of(id)
  if not letter then return false end
  remove_letter(id, letter)
  if letter.host ~= '' then
    forget(seen_set(letter.stream, letter.generation), letter.envelope)
    local t = tally(letter.stream, letter.generation)
    t.dead, t.dropped = t.dead - 1, t.dropped + 1
  end
  return true
end

-- Beyond DEAD_LIMIT the oldest letter makes room.
local function keep_letter(id, r, envelope, reason, detail)
  call('HSET', T .. ':dead', id, cmsgpack.pack({
    stream = r[STREAM], host = r[HOST], generation = r[GENERATION], envelope = envelope,
    deliveries = r[DELIVERIES], status = r[STATUS], worker = worker_of(r), at = now, reason = reason, detail = detail,
    nacked = call('HGET', T .. ':why', id) or '',
  }))
  call('HDEL', T .. ':why', id)
  call('ZADD', T .. ':dead:at', now, id)
  if r[HOST] ~= '' then call('HINCRBY', T .. ':dead:fp', dead_name(r[STREAM], envelope), 1) end
  if call('ZCARD', T .. ':dead:at') > DEAD_LIMIT then
    drop_letter(call('ZRANGE', T .. ':dead:at', 0, 0)[1])
    state.evicted = state.evicted + 1
  end
end

local function bury(id, r, envelope, reason, detail)
  keep_letter(id, r, envelope, reason, detail)
  leave(seen_set(r[STREAM], r[GENERATION]), envelope)
  local t = tally(r[STREAM], r[GENERATION])
  t.leased, t.dead = t.leased - 1, t.dead + 1
end
