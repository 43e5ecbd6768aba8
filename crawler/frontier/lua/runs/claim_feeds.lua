#!lua flags=allow-oom
-- claim_feeds: a worker will overwrite these feeds; if two did, the items of one would be lost.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  worker; '' only checks whether they are free
-- ARGV[2]  ms of silence after which a worker counts as dead
-- ARGV[3...]  feeds (opaque)
-- T:feeds HASH feed -> worker. T:workers ZSET worker -> ms of its last heartbeat.
-- Result: nothing, or the first feed claimed by a live worker and that worker: then nothing is claimed.
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
