#!lua flags=no-writes
-- tiers_learned: the hosts whose tier has changed, oldest change first.
-- KEYS[1]  the shard's tag
-- ARGV[1]  only changes after this one
-- ARGV[2]  how many
-- Result: {now, last change returned, {host, state, host, ...}}. O(log hosts + hosts returned).
-- include: clock damage state
local changes = call('ZRANGEBYSCORE', T .. ':tiers:at', '(' .. ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
if #changes == 0 then return {now, ARGV[1], {}} end
local names, rows = {}, {}
for i = 1, #changes, 2 do names[#names + 1] = changes[i] end
for i, raw in ipairs(call('HMGET', T .. ':tiers', unpack(names))) do
  rows[#rows + 1], rows[#rows + 2] = names[i], raw
end
return {now, changes[#changes], rows}
