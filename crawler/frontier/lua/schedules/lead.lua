#!lua flags=allow-oom
-- lead: become or stay the leader of this fleet's services for a while.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  the replica
-- ARGV[2]  ms for which it leads
-- T:leader HASH holder; token, which grows with each change of leader; until, ms when another may take over.
-- Result: {1 or 0: it leads, token, the leader, ms for which it leads, birth and last id of the shard's data}. O(1).
-- include: clock damage state
local LONGEST_MS = 600000 -- a longer lease was taken by a wrong clock
local key = T .. ':leader'
local holder, till = unpack(call('HMGET', key, 'holder', 'until'))
local token = tonumber(call('HGET', key, 'token'))
local left = math.max(0, (tonumber(till) or 0) - now)
local is_ours = token and holder == ARGV[1]
if not is_ours and (not token or left == 0 or left > LONGEST_MS) then
  token = call('HINCRBY', key, 'token', 1)
  call('HSET', key, 'holder', ARGV[1])
  is_ours = true
end
if is_ours then
  holder, left = ARGV[1], tonumber(ARGV[2])
  call('HSET', key, 'until', now + left)
end
save()
return {is_ours and 1 or 0, token, holder, left, state.born, state.seq}
