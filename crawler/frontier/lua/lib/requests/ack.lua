local acked = {}

-- Ends a lease whose request is done; STALE also for a mere slot.
local function ack(r, id)
  if not r or not r[TOKEN] or r[STREAM] == '' then return STALE end
  release_unreported(r)
  local t = tally(r[STREAM], r[GENERATION])
  t.leased, t.done = t.leased - 1, t.done + 1
  local envelope = (WINDOWS == 1 or state.again > 0) and call('HGET', T .. ':body', id)
  envelope = whole(id, envelope)
  if envelope and WINDOWS == 1 then leave(seen_set(r[STREAM], r[GENERATION]), envelope, now) end
  if envelope and state.again > 0 then supersede(r[STREAM], envelope) end
  end_lease(id, r)
  acked[#acked + 1] = id
  return DONE
end

local function save_acks()
  if #acked > 0 then call('HDEL', T .. ':why', unpack(acked)) end -- see nack
end
