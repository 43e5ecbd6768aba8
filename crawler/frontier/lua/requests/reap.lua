#!lua flags=allow-oom
-- reap: take back expired leases, and queue due delayed requests; a few of each per call. Any worker does this when the
-- alarm is due: there is no leader and no timer.
-- KEYS[1]  the shard's tag
-- Result: 1. O(log in flight + log queue) each.
-- include: clock damage state tally lose_one dead_again hosts addresses members shares pages queue records budgets
-- include: spend lose release seen control drop cancel requeue dead delayed
local REAP_MOST, QUEUE_MOST = 8, 32

-- A lease with a damaged record: its request is set aside. Nobody knows its host: a pass over all of them finds it
-- (lib/refile).
local function lose_unknown(id, raw, envelope)
  set_aside(T .. (raw and ':infl ' or ':lease ') .. id, raw)
  call('HDEL', T .. ':infl', id)
  if envelope then set_aside(T .. ':body ' .. id, envelope) end
  if envelope then lose_one('', 'leased') end
  call('SET', T .. ':refile', '0')
end

local function reap()
  if now < state.resumed + LEASE_MS then return end
  local ids = call('ZRANGEBYSCORE', T .. ':lease', '-inf', now, 'LIMIT', 0, REAP_MOST)
  if #ids == 0 then return end
  local raws, envelopes = call('HMGET', T .. ':infl', unpack(ids)), call('HMGET', T .. ':body', unpack(ids))
  for i, id in ipairs(ids) do
    local r = raws[i] and read_record(raws[i])
    if not r then
      lose_unknown(id, raws[i], envelopes[i])
      r = {false, [STREAM] = '', [RELEASED] = 1}
    end
    r[RESERVED] = -1 -- its reservation stands: a frozen worker may still wake before start_by
    release(r)
    refund_request(r)
    if r[STREAM] ~= '' then
      local t = tally(r[STREAM], r[GENERATION])
      t.reaped = t.reaped + 1
      local envelope = whole(id, envelopes[i])
      if r[DELIVERIES] >= MAX_DELIVERIES and envelope then
        bury(id, r, envelope, 'deliveries', '')
      else
        requeue(tonumber(id), r, r[DELIVERIES], envelope)
      end
    end
  end
  forget_leases(ids)
end

local function queue_due(kind)
  local key = T .. kind
  queue_entries(key, call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, QUEUE_MOST))
  local due = tonumber(call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
  if due then wake_at(due) end
end

reap()
local expiry = tonumber(call('ZRANGE', T .. ':lease', 0, 0, 'WITHSCORES')[2])
state.alarm = 0
if expiry then wake_at(math.max(expiry, state.resumed + LEASE_MS)) end
queue_due(':delayed')
queue_due(':delayed:room')
save()
return 1
