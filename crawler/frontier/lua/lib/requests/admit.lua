-- Whether an entry at the head of a queue may be leased: none of a run that is paused, cancelled, at its page limit or
-- out of its budget. Such entries are dropped, set aside or delayed. What holds a whole host back: see lease.
local limits = call('EXISTS', T .. ':limited') == 1
local SLICE = 64 -- requests examined together
local drops, dropped = 256, 0 -- per call, so that no call takes long

local function delay_entry(kind, at, base, name, entry)
  local member = string.sub(entry, MEMBER_AT)
  call('ZADD', T .. kind, at, struct.pack(DELAYED_FORMAT, #base, base, #name, name) .. member)
  local t = tally(base, generation_of(member))
  t.queued, t.delayed, drops = t.queued - 1, t.delayed + 1, drops - 1
end

-- An entry that waits for its run's budget or pages.
local function put_back(base, name, entry, at)
  wake_at(at)
  delay_entry(':delayed', at, base, name, entry)
  dropped = dropped + 1
  return false
end

-- Whether the run of an entry may fetch another page of the host; if not, it is dropped.
local function admit(base, name, entry)
  local generation = generation_of(string.sub(entry, MEMBER_AT))
  local run = run_name(base, generation)
  local reached = is_limited(run) and limit_reached(run, name)
  if not reached then
    count_page(base, generation, name, 1)
    return true
  end
  if reached == 'share' then return put_back(base, name, entry, now + WANT_MS) end
  drop_page(base, generation, reached, string.sub(entry, ENVELOPE_AT))
  local t = tally(base, generation)
  t.queued, drops, dropped = t.queued - 1, drops - 1, dropped + 1
end

local function is_held_back(base, generation)
  return is_cancelled(base, generation) or is_said('pause', 'run', run_named(base, generation))
end

-- Sets aside an entry of a paused or cancelled run; false for others.
local function set_apart(base, place, name, entry)
  local generation = is_controlled and generation_of(string.sub(entry, MEMBER_AT))
  if not (generation and is_held_back(base, generation)) then return false end
  if string.sub(place, #base + 1, #base + 1) == '!' then state.suspects = state.suspects - 1 end
  delay_entry(':delayed:aside', (struct.unpack('>d', entry)), base, name, entry)
  return true
end

-- Until when a request waits for its run's own budget: the longer, the more wait already. 'reap' queues a few at a
-- time, and those of other runs stand behind them.
local EACH_MS, LONGEST_MS = 40, 900000

local function held_in_turn(held)
  if held < now + LATER_MS then return held end
  return math.min(held + EACH_MS * call('ZCARD', T .. ':delayed'), now + LONGEST_MS)
end

-- Whether an entry is leased; if not, it is dropped or waits until its run's budget renews.
local function may_go(base, name, entry)
  local run = has_budgets() and budget_of_run(spider_of(base), generation_of(string.sub(entry, MEMBER_AT)))
  local held = run and held_until({run})
  if held then return put_back(base, name, entry, held_in_turn(held)) end
  if limits and not admit(base, name, entry) then return false end
  if run then spend(run, 1, 0, 0, 0) end
  return true
end

-- Whether a request of that generation would not be leased now.
local function stays(base, name, generation)
  local run = run_name(base, generation)
  if is_held_back(base, generation) or (is_limited(run) and limit_reached(run, name)) then return true end
  local budget = has_budgets() and budget_of_run(spider_of(base), generation)
  return budget and held_until({budget}) ~= nil
end

-- Drops entries over their limit at the head of a queue, and sets aside those held back; returns the rest.
local function skip_over_limit(base, place, name)
  repeat
    local heads, over = heads_of(base, place, SLICE - 1), 0
    while over < math.min(#heads, drops) do
      if not stays(base, name, generation_of(string.sub(heads[over + 1], MEMBER_AT))) then break end
      over = over + 1
    end
    if over == 0 then return heads[1] end
    for i, entry in ipairs((pop_entries(base, place, over))) do
      if i <= over and not set_apart(base, place, name, entry) then may_go(base, name, entry) end
    end
  until drops <= 0
  return heads_of(base, place, 0)[1]
end
