#!lua flags=allow-oom
-- cookies: merge what one response changed into a session's jar, cookie by cookie, and read the jar.
-- KEYS[1]  the tag of the host's shard
-- ARGV[1]  jar
-- ARGV[2]  ms after its last use until it is forgotten
-- ARGV[3]  most cookies in a jar
-- ARGV[4]  how many cookies are removed
-- ARGV[5...]  their names, then name and record of each cookie that is set
-- T:cookies:<jar> HASH name -> record.
-- Result: {cookies that did not fit, {name, record...}}. O(cookies).
-- include: damage
local key, ttl, most, removed = T .. ':cookies:' .. ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local refused = 0
for i = 5, 4 + removed do call('HDEL', key, ARGV[i]) end
for i = 5 + removed, #ARGV, 2 do
  if call('HEXISTS', key, ARGV[i]) == 1 or call('HLEN', key) < most then
    call('HSET', key, ARGV[i], ARGV[i + 1])
  else
    refused = refused + 1
  end
end
if call('PTTL', key) < ttl / 2 then call('PEXPIRE', key, ttl) end -- not each time: each one writes to the AOF
return {refused, call('HGETALL', key)}
