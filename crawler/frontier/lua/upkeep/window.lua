#!lua flags=allow-oom
-- window: forget the fingerprints whose window is over, some buckets per call.
-- KEYS[1]  the shard's tag
-- ARGV[1]  ms from the beginning of one pass over all buckets to that of the next
-- T:gen:<spider>:<generation> HASH swept, swept_at: the bucket to go on with, 0 after the last one; when the pass
-- began.
-- Result: how many generations have buckets left in this pass. O(generations).
-- include: clock damage state seen
local slice, left = 64, 0

local function purge(set, bucket)
  local key, gone = set.prefix .. bucket, {}
  local row = call('HGETALL', key)
  for i = 1, #row, 2 do
    if outlived(tonumber(row[i + 1])) then gone[#gone + 1] = row[i] end
  end
  if #gone > 0 then set.seen = set.seen - call('HDEL', key, unpack(gone)) end
end

for _, name in ipairs(generation_names()) do
  local key = T .. ':gen:' .. name
  local row = call('HMGET', key, 'mode', 'swept', 'swept_at')
  local at, began = tonumber(row[2] or nil) or 0, tonumber(row[3] or nil) or 0
  if row[1] == 'window' and (at > 0 or now - began >= tonumber(ARGV[1])) then
    local set = load_set(name)
    if at == 0 then began = now end
    while at < set.buckets and slice > 0 do
      purge(set, at)
      at, slice = at + 1, slice - 1
    end
    if at < set.buckets then left = left + 1 else at = 0 end
    call('HSET', key, 'swept', at, 'swept_at', began)
  end
end
save()
return left
