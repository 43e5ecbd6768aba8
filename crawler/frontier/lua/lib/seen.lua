-- Which fingerprints a generation knows. Buckets grow by linear hashing (Litwin 1980): one bucket is split each
-- time the mean load is passed, so no insert ever pays for more than one bucket.
-- T:seen:<set>:<bucket> SET of 63-bit integers, small enough to stay an intset of 8 bytes per fingerprint.
local LOAD = 192 -- mean members of a bucket; the fullest stay below the 512 of set-max-intset-entries
local sets = {}

local function seen_set(stream, generation)
  local name = spider_of(stream) .. ':' .. generation
  local set = sets[name]
  if set then return set end
  local key = T .. ':gen:' .. name
  local row = call('HMGET', key, 'set', 'buckets', 'seen')
  set = {key = key, uid = tonumber(row[1]), buckets = tonumber(row[2]) or 1, seen = tonumber(row[3]) or 0, span = 1}
  if not set.uid then
    put('sets', state.sets + 1)
    set.uid = state.sets
    call('HSET', key, 'set', set.uid)
  end
  while set.span * 2 <= set.buckets do set.span = set.span * 2 end
  sets[name] = set
  return set
end

local function bucket_of(set, bits)
  local bucket = bits % (set.span * 2)
  return bucket < set.buckets and bucket or bucket - set.span
end

local function bucket_key(set, bucket)
  return T .. ':seen:' .. set.uid .. ':' .. bucket
end

-- decimal digits modulo a power of two up to 2^22, without leaving the 53 exact bits of a Lua number
local function modulo(digits, span)
  local high = tonumber(string.sub(digits, 1, -10)) or 0
  return (high % span * 1000000000 + tonumber(string.sub(digits, -9))) % span
end

local function split(set)
  local from, span = set.buckets - set.span, set.span * 2
  local moving = {}
  for _, digits in ipairs(call('SMEMBERS', bucket_key(set, from))) do
    if modulo(digits, span) ~= from then moving[#moving + 1] = digits end
  end
  if #moving > 0 then
    call('SADD', bucket_key(set, set.buckets), unpack(moving))
    call('SREM', bucket_key(set, from), unpack(moving))
  end
  set.buckets = set.buckets + 1
  if set.buckets == span then set.span = span end
end

local function remember(set, digits)
  local key = bucket_key(set, bucket_of(set, modulo(digits, set.span * 2)))
  if call('SADD', key, digits) == 0 then return false end
  set.seen, set.dirty = set.seen + 1, true
  if set.seen > set.buckets * LOAD then split(set) end
  return true
end

-- The 8 bytes of a fingerprint as decimal digits; a Lua number would lose the last of them.
local function digits_of(bytes)
  local limbs = {0, 0, 0, 0} -- base 10^6, lowest first
  for i = 1, 8 do
    local carry = string.byte(bytes, i)
    for j = 1, 4 do
      local value = limbs[j] * 256 + carry
      limbs[j], carry = value % 1000000, math.floor(value / 1000000)
    end
  end
  local digits = string.format('%d%06d%06d%06d', limbs[4], limbs[3], limbs[2], limbs[1])
  return string.match(digits, '^0*(%d+)$')
end

local function forget(stream, generation, envelope)
  local set, digits = seen_set(stream, generation), digits_of(string.sub(envelope, 3, 10))
  if call('SREM', bucket_key(set, bucket_of(set, modulo(digits, set.span * 2))), digits) == 1 then
    set.seen, set.dirty = set.seen - 1, true
  end
end

local function save_seen()
  for _, set in pairs(sets) do
    if set.dirty then call('HSET', set.key, 'buckets', set.buckets, 'seen', set.seen) end
  end
end
