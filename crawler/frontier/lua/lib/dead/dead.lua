-- Records of requests without a result, by kind. T:<kind> HASH id -> msgpack map, T:<kind>:at ZSET id -> ms.
--   dead  letters: somebody has to look at them; an invalid start URL has no host
--   gone  pages that the site refuses for good (404, 410 ...): they count as done, and are kept to be listed
--        and retried
-- T:dead:seeds HASH spider:generation:SHA-1 of an invalid start URL -> id of its letter.
local MOST = {dead = DEAD_LIMIT, gone = GONE_LIMIT}

local function letter_of(kind, id)
  local raw = call('HGET', T .. ':' .. kind, id)
  local ok, letter = pcall(cmsgpack.unpack, raw or '')
  if ok and is_letter(letter) then return letter end
  if raw then set_aside(T .. ':' .. kind .. ' ' .. id, raw) end
  call('HDEL', T .. ':' .. kind, id)
  call('ZREM', T .. ':' .. kind .. ':at', id)
end

local function seed_name(spider, generation, envelope)
  return spider .. ':' .. generation .. ':' .. redis.sha1hex(string.sub(envelope, 13))
end

-- id: as a string.
local function remove_letter(kind, id, letter)
  call('HDEL', T .. ':' .. kind, id)
  call('ZREM', T .. ':' .. kind .. ':at', id)
  if kind == 'gone' then return end
  if letter.host == '' then
    local name = seed_name(letter.stream, letter.generation or '', letter.envelope)
    if call('HGET', T .. ':dead:seeds', name) == tostring(id) then call('HDEL', T .. ':dead:seeds', name) end
    return
  end
  unlink_letter(dead_name(letter.stream, letter.envelope), id)
end

-- The fingerprints of its generation, if still there.
local function set_of(letter)
  local generation = letter.shares or letter.generation
  local name = spider_of(letter.stream) .. ':' .. generation
  return call('EXISTS', T .. ':gen:' .. name) == 1 and seen_set(letter.stream, generation)
end

-- A letter of an earlier run in the same generation is no business of the one there now.
local function count_dropped(letter)
  local key = T .. ':gen:' .. spider_of(letter.stream) .. ':' .. letter.generation
  local t = final_tally(letter.stream, letter.generation)
  if (tonumber(letter.at) or 0) < (tonumber(call('HGET', key, 'since') or nil) or 0) then
    count_retried(t, letter)
    t = tally(letter.stream, '')
    t.accepted = t.accepted + 1
  else
    count_as(t, 'dead', letter.reason, -1)
  end
  count_as(t, 'dropped', 'dead letter', 1)
end

local function drop_letter(kind, id)
  local letter = letter_of(kind, id)
  if not letter then return false end
  remove_letter(kind, id, letter)
  local set = letter.host ~= '' and set_of(letter)
  if set then forget(set, letter.envelope) end
  if kind == 'dead' and letter.generation ~= '' then
    count_dropped(letter)
  end
  return true
end

-- Evicts the oldest, some per call, as fewer may be kept than before: a dead letter's fingerprint is forgotten, a gone
-- page stays known like a done one.
local EVICTED_MOST = 8
local function make_room(kind)
  local over = math.min(call('ZCARD', T .. ':' .. kind .. ':at') - MOST[kind], EVICTED_MOST)
  if over <= 0 then return end
  for _, oldest in ipairs(call('ZRANGE', T .. ':' .. kind .. ':at', 0, over - 1)) do
    if kind == 'gone' then
      remove_letter(kind, oldest, {})
    else
      drop_letter(kind, oldest)
      state.evicted = state.evicted + 1
    end
  end
end

local function keep_letter(kind, id, r, envelope, reason, detail)
  if state.again > 0 and r[HOST] ~= '' then supersede(r[STREAM], envelope) end
  call('HSET', T .. ':' .. kind, id, cmsgpack.pack({
    stream = r[STREAM], host = r[HOST], generation = r[GENERATION], envelope = envelope,
    deliveries = r[DELIVERIES], status = r[STATUS], worker = worker_of(r), at = now, reason = reason, detail = detail,
    nacked = call('HGET', T .. ':why', id) or '', shares = r[HOST] ~= '' and owner_of(r[STREAM], r[GENERATION]) or nil,
  }))
  call('HDEL', T .. ':why', id)
  call('ZADD', T .. ':' .. kind .. ':at', now, id)
  if kind == 'dead' and r[HOST] ~= '' then
    local name = dead_name(r[STREAM], envelope)
    call('HINCRBY', T .. ':dead:fp', name, 1)
    local before = call('HGET', T .. ':dead:id', name)
    local ids = (before and before .. ' ' or '') .. string.format('%.0f', id)
    if #ids > ID_BYTES then ids = string.match(string.sub(ids, -ID_BYTES), ' (.*)$') end
    call('HSET', T .. ':dead:id', name, ids)
  end
  make_room(kind)
end

local function bury(id, r, envelope, reason, detail)
  keep_letter('dead', id, r, envelope, reason, detail)
  leave(seen_set(r[STREAM], r[GENERATION]), envelope)
  local t = tally(r[STREAM], r[GENERATION])
  t.leased = t.leased - 1
  count_as(t, 'dead', reason, 1)
end
