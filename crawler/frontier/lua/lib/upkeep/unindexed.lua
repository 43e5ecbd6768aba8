-- Leases that T:lease does not know, as it was damaged: nobody would lease their requests again.

-- They expire in one lease's time, as if they were renewed now: their workers may be alive.
local function index_leases()
  if call('HLEN', T .. ':infl') <= call('ZCARD', T .. ':lease') then return end
  for _, id in ipairs(call('HKEYS', T .. ':infl')) do
    if string.find(id, '^%d+$') then
      call('ZADD', T .. ':lease', 'NX', now + LEASE_MS, id)
    else
      set_aside(T .. ':infl ' .. id, call('HGET', T .. ':infl', id))
      call('HDEL', T .. ':infl', id)
    end
  end
  wake_at(now + LEASE_MS)
end

-- What is left of requests where nothing is leased.
local function drop_bodies()
  for _, id in ipairs(call('HKEYS', T .. ':body')) do
    set_aside(T .. ':body ' .. id, call('HGET', T .. ':body', id))
  end
  call('UNLINK', T .. ':body')
end
