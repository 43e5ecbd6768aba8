#!lua flags=allow-oom
-- robots_claim: read what the fleet knows of an origin's robots.txt, or get the task to fetch it, one worker at a time.
-- KEYS[1]  the shard's tag
-- ARGV[1]  origin
-- ARGV[2]  the worker
-- ARGV[3]  ms for which only this worker may fetch (calling again before that extends it)
-- T:robots:<origin> HASH verdict, status, until, since, body, sitemaps; T:robots:<origin>:lock STRING who fetches.
-- Result: {'known', verdict, ms it stays fresh, status, body, ms it has been unreachable, or 0},
-- {'fetch', the same last value}, or {'wait'}: another worker is fetching. O(1).
-- include: clock damage state
local key = T .. ':robots:' .. ARGV[1]
local lock = key .. ':lock'
local verdict, status, until_ms, since, body = unpack(call('HMGET', key, 'verdict', 'status', 'until', 'since', 'body'))
save()
local failing = (tonumber(since) or 0) > 0 and now - since or 0
if verdict and body and (tonumber(until_ms) or 0) > now then
  return {'known', verdict, tonumber(until_ms) - now, tonumber(status) or 0, body, failing}
end
if call('SET', lock, ARGV[2], 'NX', 'PX', ARGV[3]) or call('GET', lock) == ARGV[2] then
  call('PEXPIRE', lock, ARGV[3])
  return {'fetch', failing}
end
return {'wait'}
