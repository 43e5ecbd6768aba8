-- Puts a leased request back into the queue, with its id and score.
local function requeue(id, r, deliveries, envelope)
  if not envelope then return lose(id, r) end
  if cancel_leased(id, r, envelope) then return end
  local member = member_of(id, deliveries, r[STATUS], envelope)
  local score = r[SCORE] == r[SCORE] and r[SCORE] or now -- a damaged one is no number
  enqueue(stream_for(r[STREAM], deliveries), r[HOST], score, member, priority_of(member))
  local t = tally(r[STREAM], r[GENERATION])
  t.leased, t.queued = t.leased - 1, t.queued + 1
  count_page(r[STREAM], r[GENERATION], r[HOST], -1)
end
