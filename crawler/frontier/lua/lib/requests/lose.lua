-- The request of a lease is lost.
local function lose(id, r)
  set_aside(T .. ':body ' .. id, r[1])
  call('HDEL', T .. ':why', id)
  local t = tally(r[STREAM], r[GENERATION])
  t.leased = t.leased - 1
  count_as(t, 'dropped', 'damaged', 1)
end
