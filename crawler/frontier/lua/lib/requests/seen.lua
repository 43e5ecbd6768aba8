-- Which fingerprints a generation knows, in the mode it was opened with:
--   compact  63-bit integers in intsets, 8 bytes each (the default)
--   exact    whole fingerprints (the digest), 20 bytes each; of a digest below 8 bytes as for `window`
--   window   a URL may come again WINDOW_S after it was done; queued and leased ones stay known
--   bloom    a Bloom filter of fixed size: least memory, a few false positives
-- T:gen:<spider>:<generation> HASH set, mode, buckets, seen, closed: takes in no links; or shares: the generation whose
-- set it uses;
-- T:seen:<set>:<bucket> SET, HASH or bitmap.
-- A dead letter's fingerprint is known in its run even where it is forgotten here: T:dead:fp, see dead.
--
-- Except for bloom, buckets grow by linear hashing (Litwin 1980): whenever the mean load is exceeded one bucket is
-- split, so no insert costs more than that. LOAD is such that the fullest bucket keeps its compact encoding under the
-- default limits of Redis and Valkey (512 integers, 128 strings).
local LOAD = {compact = 192, exact = 40, window = 40}
local sets, sets_of = {}, {} -- by name, and by stream and generation

local function load_set(name, is_owner)
  if sets[name] then return sets[name] end
  local key = T .. ':gen:' .. name
  local row = call('HMGET', key, 'set', 'mode', 'buckets', 'seen', 'shares', 'closed')
  if row[5] and not row[1] and not is_owner then return load_set(string.match(name, '^.*:') .. row[5], true) end
  local set = {
    key = key, uid = row[1], buckets = tonumber(row[3]), seen = tonumber(row[4]) or 0, span = 1,
    closed = row[6],
    mode = (LOAD[row[2]] or row[2] == 'bloom') and row[2] or DEDUPE,
  }
  local is_whole = tonumber(set.uid or nil) and set.buckets and set.buckets >= 1 and set.buckets <= MOST_BUCKETS
  if set.uid and not (is_whole and set.buckets == math.floor(set.buckets) and set.seen == set.seen) then
    set_aside(key, cjson.encode(row))
    set.uid = false
  end
  if not set.uid then
    state.sets = state.sets + 1
    set.uid, set.buckets = state.sets, set.mode == 'bloom' and BLOOM_PAGES or 1
    call('HSET', key, 'set', set.uid, 'mode', set.mode, 'buckets', set.buckets, 'seen', 0, 'last', now)
    add_generation(name)
  end
  while set.span * 2 <= set.buckets do set.span = set.span * 2 end
  set.prefix = T .. ':seen:' .. set.uid .. ':'
  sets[name] = set
  return set
end

local function seen_set(stream, generation)
  local of_stream = sets_of[stream]
  if not of_stream then
    of_stream = {}
    sets_of[stream] = of_stream
  end
  if not of_stream[generation] then of_stream[generation] = load_set(spider_of(stream) .. ':' .. generation) end
  return of_stream[generation]
end

-- The generation whose fingerprints this one shares; nil for its own.
local function owner_of(stream, generation)
  local owner = generation ~= '' and string.match(seen_set(stream, generation).key, '[^:]*$')
  return owner and owner ~= generation and owner or nil
end

local function bucket_of(set, bits)
  local bucket = bits % (set.span * 2)
  return bucket < set.buckets and bucket or bucket - set.span
end

-- Decimal digits modulo a power of two up to 2^22, within the 53 exact bits of a Lua number. 2^15 divides
-- 10^15: up to that, the last 15 digits suffice.
local function modulo(digits, span)
  if span <= 32768 then return (tonumber(string.sub(digits, -15)) or 0) % span end
  local high = tonumber(string.sub(digits, 1, -10)) or 0
  return (high % span * 1000000000 + (tonumber(string.sub(digits, -9)) or 0)) % span
end

-- The 8 bytes of a fingerprint as decimal digits: a Lua number would lose the last ones.
local function digits_of(bytes)
  local limbs = {0, 0, 0, 0} -- base 10^6, lowest first
  for i = 1, 8 do
    local carry = string.byte(bytes, i)
    for j = 1, 4 do
      local value = limbs[j] * 256 + carry
      limbs[j], carry = value % 1000000, math.floor(value / 1000000)
    end
  end
  return string.match(string.format('%d%06d%06d%06d', limbs[4], limbs[3], limbs[2], limbs[1]), '^0*(%d+)$')
end

local function member_and_key(set, envelope, digits)
  local member, bits
  if set.mode == 'exact' then
    member = struct.unpack('>Bc0', envelope, 11)
    if #member < 8 then member = string.sub(envelope, 3, 10) end
    bits = struct.unpack('>I4', member, 1)
  else
    member = set.mode == 'compact' and (digits or digits_of(string.sub(envelope, 3, 10))) or string.sub(envelope, 3, 10)
    bits = struct.unpack('>I4', envelope, 7)
  end
  return member, set.prefix .. bucket_of(set, bits)
end

local function moves(set, member, from, span)
  if set.mode == 'compact' then return modulo(member, span) ~= from end
  if #member < 8 then return false end -- not written by us
  return struct.unpack('>I4', member, set.mode == 'exact' and 1 or 5) % span ~= from
end

-- Also what is no number: nobody knows until when it held.
local function outlived(value)
  if not value or value ~= value then return true end
  return value >= 0 and value + WINDOW_S <= now / 1000
end

local function split_window(set, from, span)
  local stay, move = set.prefix .. from, set.prefix .. set.buckets
  local row = call('HGETALL', stay)
  for i = 1, #row, 2 do
    if outlived(tonumber(row[i + 1])) then
      call('HDEL', stay, row[i])
      set.seen = set.seen - 1
    elseif moves(set, row[i], from, span) then
      call('HDEL', stay, row[i])
      call('HSET', move, row[i], row[i + 1])
    end
  end
end

local function split_set(set, from, span)
  local moving = {}
  for _, member in ipairs(call('SMEMBERS', set.prefix .. from)) do
    if moves(set, member, from, span) then moving[#moving + 1] = member end
  end
  if #moving > 0 then
    call('SADD', set.prefix .. set.buckets, unpack(moving))
    call('SREM', set.prefix .. from, unpack(moving))
  end
end

local function grow(set)
  local from, span = set.buckets - set.span, set.span * 2
  if set.mode == 'window' then split_window(set, from, span) else split_set(set, from, span) end
  set.buckets = set.buckets + 1
  if set.buckets == span then set.span = span end
end

-- window: a value below 0 counts the live copies of a URL, another is the second in which the last one was done.
local function enter_window(set, envelope, dedupe)
  local member, key = member_and_key(set, envelope)
  local value = tonumber(call('HGET', key, member) or nil)
  if dedupe and value and not outlived(value) then return false end
  if not value then set.seen = set.seen + 1 end
  call('HSET', key, member, value and value < 0 and value - 1 or -1)
  return true
end

local function enter_bloom(set, envelope)
  local high, low = struct.unpack('>I4I4', envelope, 3)
  local at, step = high % BLOOM_PAGE_BITS, math.floor(high / BLOOM_PAGE_BITS) * 2 + 1
  local command = {'BITFIELD', set.prefix .. low % set.buckets}
  for i = 1, BLOOM_HASHES do
    command[4 * i - 1], command[4 * i], command[4 * i + 1], command[4 * i + 2] = 'SET', 'u1', at, 1
    at = (at + step) % BLOOM_PAGE_BITS
  end
  local known = 1
  for _, bit in ipairs(call(unpack(command))) do known = known * bit end
  if known == 0 then set.seen = set.seen + 1 end
  return known == 0
end

-- Records a request; false if it is known already. Without deduplication nothing is recorded, except in a window.
local function enter(set, envelope, dedupe, digits)
  if set.mode == 'window' then
    if not enter_window(set, envelope, dedupe) then return false end
  elseif not dedupe then
    return true
  elseif set.mode == 'bloom' then
    return enter_bloom(set, envelope)
  else
    local member, key = member_and_key(set, envelope, digits)
    if call('SADD', key, member) == 0 then return false end
    set.seen = set.seen + 1
  end
  if set.seen > set.buckets * LOAD[set.mode] then grow(set) end
  return true
end

-- window: a copy is no longer live; done_at starts the window.
local function leave(set, envelope, done_at)
  if set.mode ~= 'window' then return end
  local member, key = member_and_key(set, envelope)
  local value = tonumber(call('HGET', key, member) or nil)
  if not value then return end
  if value < -1 then
    call('HSET', key, member, value + 1)
  elseif done_at then
    call('HSET', key, member, math.ceil(done_at / 1000)) -- not before: a short window would be much shorter
  else
    call('HDEL', key, member)
    set.seen = set.seen - 1
  end
end

-- A Bloom filter cannot forget.
local function forget(set, envelope)
  if set.mode == 'bloom' then return end
  local member, key = member_and_key(set, envelope)
  if call(set.mode == 'window' and 'HDEL' or 'SREM', key, member) == 1 then set.seen = set.seen - 1 end
end

local function dead_name(stream, envelope)
  return spider_of(stream) .. ':' .. string.sub(envelope, 3, 10)
end

local function save_seen()
  for _, set in pairs(sets) do call('HSET', set.key, 'buckets', set.buckets, 'seen', set.seen) end
end
