-- A request is dropped, and its fingerprint forgotten: another run may need it. 'budget': that of its run is spent.
local function drop_request(id, stream, generation, envelope, reason)
  call('HDEL', T .. ':why', id)
  forget(seen_set(stream, generation), envelope)
  local t = tally(stream, generation)
  if reason == 'budget' then count_cut(t, reason) else count_as(t, 'dropped', reason, 1) end
end
