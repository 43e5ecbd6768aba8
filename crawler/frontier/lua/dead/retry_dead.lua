#!lua flags=allow-oom
-- retry_dead: queue dead letters, or gone pages, again with a fresh delivery count, under their ids.
-- KEYS[1]  the shard's tag
-- ARGV[1]  kind: 'dead' or 'gone'
-- ARGV[2]  the generation that they move to; '' for their own
-- ARGV[3...]  ids
-- Result: 1 per letter, 0 if there is none (any more), it was a seed or its run is cancelled. O(log dead + log queue)
-- each.
-- include: clock damage state tally dead_again hosts addresses members shares pages queue records seen dead control
local kind, target, result = ARGV[1], ARGV[2], {}

local function account(letter, generation)
  local from = final_tally(letter.stream, letter.generation) -- before the next line creates another
  local t = tally(letter.stream, generation)
  t.queued = t.queued + 1
  if kind == 'gone' or from ~= t then t.accepted = t.accepted + 1 end -- gone pages count as done
  if kind == 'gone' then return end
  if from == t then count_as(t, 'dead', letter.reason, -1) else count_retried(from, letter) end
end

local function forgive(letter)
  if letter.reason == 'host_down' then call('DEL', T .. ':down:' .. letter.host) end
  if letter.reason == 'robots_unreachable' then -- a new term for its robots.txt
    local ok, detail = pcall(cmsgpack.unpack, letter.detail)
    local origin = ok and type(detail) == 'table' and detail.origin
    if origin then call('DEL', T .. ':robots:' .. origin) end
  end
end

for i = 3, #ARGV do
  local id = ARGV[i]
  local letter = letter_of(kind, id)
  local generation = target ~= '' and target or (letter or {}).generation
  result[i - 2] = 0
  if letter and letter.host ~= '' and not is_cancelled(letter.stream, generation) then
    result[i - 2] = 1
    remove_letter(kind, id, letter)
    forgive(letter)
    local envelope = in_generation(letter.envelope, generation)
    local member = member_of(id, 0, letter.status, envelope)
    local priority, set = priority_of(member), seen_set(letter.stream, generation)
    enter(set, envelope, set.closed ~= false and set.mode ~= 'window')
    enqueue(letter.stream, letter.host, score_of(priority), member, priority)
    account(letter, generation)
    if generation == letter.generation and letter.reason ~= 'host_down' then -- otherwise it may never have been leased
      count_page(letter.stream, generation, letter.host, -1)
    end
  end
end
save()
return result
