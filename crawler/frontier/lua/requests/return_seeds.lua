#!lua flags=allow-oom
-- return_seeds: return leased entries to where they came from.
-- KEYS[1]  the start-URLs key
-- KEYS[2]  its leases
-- ARGV[1]  its type: 'list', 'set' or 'zset'
-- ARGV[2...]  handles, the last one first in a list
-- Result: how many leases were still held. O(log n) each.
local returned = 0
for i = #ARGV, 2, -1 do
  if redis.call('ZREM', KEYS[2], ARGV[i]) == 1 then
    local score, entry = string.match(ARGV[i], '^[^ ]+ [^ ]+ ([^ ]+) (.*)$')
    if ARGV[1] == 'zset' then
      redis.call('ZADD', KEYS[1], score, entry)
    else
      redis.call(ARGV[1] == 'set' and 'SADD' or 'LPUSH', KEYS[1], entry)
    end
    returned = returned + 1
  end
end
return returned
