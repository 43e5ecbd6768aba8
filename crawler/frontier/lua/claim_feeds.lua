#!lua flags=allow-oom
-- claim_feeds: a worker will overwrite these feeds; two that did would keep the items of one.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  worker; '' only looks whether they are free
-- ARGV[2]  ms of silence after which a worker counts as dead
-- ARGV[3...]  feeds (opaque)
-- T:feeds HASH feed -> worker. T:workers ZSET worker -> ms of its last sign.
-- Result: nothing, or the first feed that a living worker has claimed and that worker: then nothing is claimed.
-- O(feeds).
-- include: clock damage state
local function free(feed)
  local holder = call('HGET', T .. ':feeds', feed)
  local seen = holder and holder ~= ARGV[1] and call('ZSCORE', T .. ':workers', holder)
  if seen and tonumber(seen) >= now - ARGV[2] then return false, holder end
  return true
end
for i = 3, #ARGV do
  local ok, holder = free(ARGV[i])
  if not ok then
    save()
    return {ARGV[i], holder}
  end
end
if ARGV[1] ~= '' then
  for i = 3, #ARGV do call('HSET', T .. ':feeds', ARGV[i], ARGV[1]) end
end
save()
return {}
