-- Whether the leased request was dropped instead of queued again, as its run is cancelled: nothing is left to do then.
local function cancel_leased(id, r, envelope)
  if not (envelope and is_cancelled(r[STREAM], r[GENERATION])) then return false end
  drop_request(id, r[STREAM], r[GENERATION], envelope, 'cancelled')
  local t = tally(r[STREAM], r[GENERATION])
  t.leased = t.leased - 1
  return true
end
