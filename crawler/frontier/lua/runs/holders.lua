#!lua flags=allow-oom
-- holders: which hosts have requests of a generation in their queues. Changes nothing.
-- KEYS[1]  the shard's tag
-- ARGV[1]  stream, '!' behind it for its suspects
-- ARGV[2]  generation
-- ARGV[3]  how many requests to examine, more or less
-- ARGV[4...]  hosts, at least one
-- Result: how many hosts were looked at, then those of them that have some, and those with more requests than fit in
-- one call, which may have some. O(requests).
-- include: clock damage state hosts members
local queue, generation, room = ARGV[1], ARGV[2], tonumber(ARGV[3])
local found, looked = {}, 0

local function has_some(entries)
  for _, entry in ipairs(entries) do
    local ok, of = pcall(generation_of, string.sub(entry, MEMBER_AT))
    if not ok or of == generation then return true end -- damaged ones are for control_sift
  end
end

for i = 4, #ARGV do
  local place = place_of(queue, ARGV[i])
  local list, ahead = T .. ':q:' .. place, T .. ':early:' .. place
  local length = call('LLEN', list) + call('ZCARD', ahead)
  local is_long = length > tonumber(ARGV[3])
  room = room - (is_long and 1 or length)
  if room < 0 and looked > 0 then break end
  looked = looked + 1
  if is_long or has_some(call('LRANGE', list, 0, -1)) or has_some(call('ZRANGE', ahead, 0, -1)) then
    found[#found + 1] = ARGV[i]
  end
end
return {looked, unpack(found)}
