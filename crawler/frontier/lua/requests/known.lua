#!lua flags=no-writes
-- known: whether a generation has seen a fingerprint.
-- KEYS[1]  the shard's tag
-- ARGV[1]  <spider>:<generation>
-- ARGV[2]  an envelope with the fingerprint
-- Result: 1 or 0. O(1).
-- include: clock damage state seen
local row = call('HMGET', T .. ':gen:' .. ARGV[1], 'set', 'shares')
if not row[1] and not row[2] then return 0 end
local is_read, set = pcall(load_set, ARGV[1])
if not is_read then
  -- Damaged: the next push begins it anew.
  if string.find(type(set) == 'table' and set.err or set, 'read-only', 1, true) then return 0 end
  error(set)
end
if set.mode == 'bloom' then
  local high, low = struct.unpack('>I4I4', ARGV[2], 3)
  local at, step = high % BLOOM_PAGE_BITS, math.floor(high / BLOOM_PAGE_BITS) * 2 + 1
  for _ = 1, BLOOM_HASHES do
    if call('GETBIT', set.prefix .. low % set.buckets, at) == 0 then return 0 end
    at = (at + step) % BLOOM_PAGE_BITS
  end
  return 1
end
local member, key = member_and_key(set, ARGV[2])
if set.mode ~= 'window' then return call('SISMEMBER', key, member) end
local value = tonumber(call('HGET', key, member) or nil)
return value and not outlived(value) and 1 or 0
