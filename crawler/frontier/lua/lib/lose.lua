-- The request of a lease is gone, and with it what was to be done.
local function lose(id, r)
  set_aside(T .. ':body ' .. id, r[1])
  local t = tally(r[STREAM], r[GENERATION])
  t.leased, t.dropped = t.leased - 1, t.dropped + 1
end
