#!lua flags=allow-oom
-- robots_keep: what a fetch of robots.txt came to, for the whole fleet.
-- KEYS[1]  the shard's tag
-- ARGV[1]  origin
-- ARGV[2]  who fetched it
-- ARGV[3]  verdict
-- ARGV[4]  status
-- ARGV[5]  ms it stays fresh
-- ARGV[6]  ms it is kept
-- ARGV[7]  '1' when it could not be reached
-- ARGV[8]  body
-- ARGV[9]  sitemaps
-- Result: 1, or 0 when another worker has taken over, and nothing changed. O(1).
-- include: clock damage state
local key = T .. ':robots:' .. ARGV[1]
local lock = key .. ':lock'
local owner = call('GET', lock)
local fresh_until = (tonumber(call('HGET', key, 'until')) or 0)
if owner ~= ARGV[2] and (owner or fresh_until > now) then return 0 end
local since = 0
if ARGV[7] == '1' then
  since = (tonumber(call('HGET', key, 'since')) or 0)
  if since == 0 then since = now end
end
call('HSET', key, 'verdict', ARGV[3], 'status', ARGV[4], 'until', now + ARGV[5], 'since', since, 'body', ARGV[8],
  'sitemaps', ARGV[9])
call('PEXPIRE', key, ARGV[6])
call('DEL', lock)
save()
return 1
