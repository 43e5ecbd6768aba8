#!lua flags=allow-oom
-- retry_dead: queue dead letters again with a fresh delivery count, under their ids.
-- KEYS[1] the shard's tag. ARGV[1] msgpack array of ids. Result: 1 per letter, 0 where there is none (any more).
-- O(log dead + log queue) each.
-- include: clock state generations hosts queue leases seen dead
local result = {}
for i, id in ipairs(cmsgpack.unpack(ARGV[1])) do
  local letter = take_letter(id)
  result[i] = letter and 1 or 0
  if letter then
    local member = member_of(id, 0, letter.status, letter.envelope)
    enqueue(letter.stream, letter.host, score_of(priority_of(member)), member)
    count(letter.stream, letter.generation, 'dead', -1)
    count(letter.stream, letter.generation, 'queued', 1)
  end
end
save_all()
return result
