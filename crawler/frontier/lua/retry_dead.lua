#!lua flags=allow-oom
-- retry_dead: queue dead letters, or pages that are gone, again with a fresh delivery count, under their ids.
-- KEYS[1]  the shard's tag
-- ARGV[1]  kind: 'dead' or 'gone'
-- ARGV[2...]  ids
-- Result: 1 per letter, 0 where there is none (any more) or it was a seed. O(log dead + log queue) each.
-- include: clock damage state tally hosts members pages queue records seen dead
local kind, result = ARGV[1], {}
for i = 2, #ARGV do
  local id = ARGV[i]
  local letter = letter_of(kind, id)
  result[i - 1] = 0
  if letter and letter.host ~= '' then
    result[i - 1] = 1
    remove_letter(kind, id, letter)
    if letter.reason == 'host_down' then call('DEL', T .. ':down:' .. letter.host) end
    if letter.reason == 'robots_unreachable' then -- a new term for its robots.txt
      local origin = cmsgpack.unpack(letter.detail).origin
      if origin then call('DEL', T .. ':robots:' .. origin) end
    end
    local member = member_of(id, 0, letter.status, letter.envelope)
    local from = final_tally(letter.stream, letter.generation) -- before the next line makes another
    local priority, t = priority_of(member), tally(letter.stream, letter.generation)
    enter(seen_set(letter.stream, letter.generation), letter.envelope, false)
    enqueue(letter.stream, letter.host, score_of(priority), member, priority)
    t.queued = t.queued + 1
    if letter.reason ~= 'host_down' then -- else it may never have been leased
      count_page(letter.stream, letter.generation, letter.host, -1)
    end
    if kind == 'dead' then count_as(from, 'dead', letter.reason, -1) end
    if kind == 'gone' or from ~= t then t.accepted = t.accepted + 1 end -- what was gone counts as done
    if kind == 'dead' and from ~= t then count_as(from, 'dropped', 'retried', 1) end
  end
end
save()
return result
