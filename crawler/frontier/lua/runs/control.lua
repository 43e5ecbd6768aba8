#!lua flags=allow-oom
-- control: record an operator's command; scripts that lease and queue obey from now on.
-- KEYS[1]  the shard's tag
-- ARGV[1]  'pause', 'cancel' or 'resume'
-- ARGV[2]  what: 'spider <name>', 'host <name>' or 'run <spider>:<generation>'
-- Result: 1 if that changed anything, else 0. O(commands in force).
-- include: clock damage state
local KEPT_MS = 604800000 -- after this no worker holds a lease of a cancelled run
local news
if ARGV[1] == 'resume' then
  news = call('HDEL', T .. ':control', 'pause ' .. ARGV[2])
else
  news = call('HSETNX', T .. ':control', ARGV[1] .. ' ' .. ARGV[2], now)
end
local said = call('HGETALL', T .. ':control')
for i = 1, #said, 2 do
  local at = tonumber(said[i + 1]) or 0
  if string.sub(said[i], 1, 7) == 'cancel ' and at + KEPT_MS < now then call('HDEL', T .. ':control', said[i]) end
end
save()
return news
