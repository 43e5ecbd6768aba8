-- Dead letters: T:dead HASH id -> msgpack map, T:dead:at ZSET id -> ms,
-- T:dead:fp HASH <spider>:<fingerprint> -> copies. A bad entry of a start-URLs key has no host and no generation.
local function dead_name(stream, envelope)
  return spider_of(stream) .. ':' .. string.sub(envelope, 3, 10)
end

local function is_dead(stream, envelope)
  return call('HEXISTS', T .. ':dead:fp', dead_name(stream, envelope)) == 1
end

local function take_letter(id)
  local raw = call('HGET', T .. ':dead', id)
  if not raw then return nil end
  local letter = cmsgpack.unpack(raw)
  call('HDEL', T .. ':dead', id)
  call('ZREM', T .. ':dead:at', id)
  local name = dead_name(letter.stream, letter.envelope)
  if letter.host ~= '' and call('HINCRBY', T .. ':dead:fp', name, -1) <= 0 then
    call('HDEL', T .. ':dead:fp', name)
  end
  return letter
end

local function drop_letter(id)
  local letter = take_letter(id)
  if letter and letter.host ~= '' then
    forget(letter.stream, letter.generation, letter.envelope)
    count(letter.stream, letter.generation, 'dead', -1)
    count(letter.stream, letter.generation, 'dropped', 1)
  end
  return letter
end

-- Beyond DEAD_LIMIT the oldest letter makes room.
local function keep_letter(id, r, envelope, reason, detail)
  call('HSET', T .. ':dead', id, cmsgpack.pack({
    stream = r.stream, host = r.host, generation = r.generation, envelope = envelope, deliveries = r.deliveries,
    status = r.status, worker = r.worker, at = now, reason = reason, detail = detail,
  }))
  call('ZADD', T .. ':dead:at', now, id)
  if r.host ~= '' then call('HINCRBY', T .. ':dead:fp', dead_name(r.stream, envelope), 1) end
  if call('ZCARD', T .. ':dead:at') > DEAD_LIMIT then
    drop_letter(call('ZRANGE', T .. ':dead:at', 0, 0)[1])
    put('evicted', state.evicted + 1)
  end
end

local function add_dead(id, r, envelope, reason, detail)
  keep_letter(id, r, envelope, reason, detail)
  count(r.stream, r.generation, 'leased', -1)
  count(r.stream, r.generation, 'dead', 1)
end
