#!lua flags=no-writes
-- find: search a slice of a queue for a fingerprint, so that a long queue never blocks the server.
-- KEYS[1]  the shard's tag
-- ARGV[1]  'list', a queue in order; 'ahead', the entries before the end of one; 'delayed'
-- ARGV[2]  its key, without the tag
-- ARGV[3]  rank of the first entry to examine
-- ARGV[4]  how many
-- ARGV[5]  the fingerprint (8 bytes)
-- Result: {rank, entry, its score (a string)} of the first match, else how many were examined. O(ARGV[4]).
-- include: damage
local kind, key, from, count = ARGV[1], T .. ':' .. ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local listed = kind == 'list'
local entries = call(listed and 'LRANGE' or 'ZRANGE', key, from, from + count - 1)

-- The position of the fingerprint: after the score, or stream and host, then id, deliveries, status and priority.
local function fingerprint_at(entry)
  if kind ~= 'delayed' then return 20 end
  local stream = string.byte(entry, 1)
  return stream and 1 + stream + 1 + (string.byte(entry, stream + 2) or 0) + 12
end

for i, entry in ipairs(entries) do
  local at = fingerprint_at(entry)
  if at and string.sub(entry, at, at + 7) == ARGV[5] then
    return {from + i - 1, entry, listed and '' or call('ZSCORE', key, entry)}
  end
end
return #entries
