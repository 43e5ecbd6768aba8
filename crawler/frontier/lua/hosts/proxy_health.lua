#!lua flags=allow-oom
-- proxy_health: read the health of a pool's proxies, or change one of them by compare-and-set.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  pool
-- ARGV[2]  ms after the last change until the pool is forgotten
-- ARGV[3]  proxy to change; if missing nothing is changed
-- ARGV[4]  its record as read, '' for none
-- ARGV[5]  its new record, '' to forget it
-- T:proxies:<pool> HASH proxy -> record; a missing proxy is good.
-- Result: {now, 1 if changed, {proxy, record, proxy, record...}}; of a change the proxy's own record alone. O(proxies
-- that are not good), a change O(1).
-- include: clock damage state
local key, made = T .. ':proxies:' .. ARGV[1], 0
local found = ARGV[3] and (call('HGET', key, ARGV[3]) or '')
if found and found == ARGV[4] then
  made, found = 1, ARGV[5]
  if found == '' then call('HDEL', key, ARGV[3]) else call('HSET', key, ARGV[3], found) end
  call('PEXPIRE', key, ARGV[2])
end
save()
return {now, made, found and {ARGV[3], found} or call('HGETALL', key)}
