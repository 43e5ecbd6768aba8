-- A request of a cancelled run is dropped instead of queued again, and its fingerprint forgotten: another run may need
-- it.
local function drop_cancelled(id, stream, generation, envelope)
  call('HDEL', T .. ':why', id)
  forget(seen_set(stream, generation), envelope)
  count_as(tally(stream, generation), 'dropped', 'cancelled', 1)
end

-- Whether the leased request was dropped: then nothing else is left to do.
local function cancel_leased(id, r, envelope)
  if not (envelope and is_cancelled(r[STREAM], r[GENERATION])) then return false end
  drop_cancelled(id, r[STREAM], r[GENERATION], envelope)
  local t = tally(r[STREAM], r[GENERATION])
  t.leased = t.leased - 1
  return true
end
