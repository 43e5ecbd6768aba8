#!lua flags=allow-oom
-- retry_dead: queue dead letters again with a fresh delivery count, under their ids.
-- KEYS[1] the shard's tag. ARGV ids. Result: 1 per letter, 0 where there is none (any more) or it was a seed.
-- O(log dead + log queue) each.
-- include: clock state tally hosts members queue records seen dead
local result = {}
for i, id in ipairs(ARGV) do
  local letter = letter_of(id)
  result[i] = 0
  if letter and letter.host ~= '' then
    result[i] = 1
    remove_letter(id, letter)
    local member = member_of(id, 0, letter.status, letter.envelope)
    local priority, t = priority_of(member), tally(letter.stream, letter.generation)
    enter(seen_set(letter.stream, letter.generation), letter.envelope, false)
    enqueue(letter.stream, letter.host, score_of(priority), member, priority)
    t.dead, t.queued = t.dead - 1, t.queued + 1
  end
end
save_seen()
flush_queue()
save_hosts()
save_tallies()
save_state()
return result
