#!lua flags=allow-oom
-- put_off: return leases of pages whose requests found no room, uncharged, to be fetched again later or once there is
-- room. T:why (see nack) counts how often.
-- KEYS[1]  the shard's tag
-- ARGV[1]  delay ms of the first time, doubled each further time up to LONGEST_MS
-- ARGV[2...]  id and token (d, d) of each lease
-- Result: DONE or STALE of each. O(log delayed) each.
-- include: clock damage state tally hosts addresses members shares pages queue records budgets spend lose release seen
-- include: control drop cancel
local LONGEST_MS = 900000
local NO_ROOM = 'found no room %d times'

local function put_off_before(id)
  return tonumber(string.match(call('HGET', T .. ':why', id) or '', '^found no room (%d+) times$')) or 0
end

local records, ids = lookup_rows(2)
load_hosts_of(records, 0)
local result = {}
for i, r in ipairs(records) do
  result[i] = STALE
  if r and r[TOKEN] and r[STREAM] ~= '' then
    result[i] = DONE
    release_unreported(r)
    refund_request(r)
    end_lease(ids[i], r)
    local envelope = whole(ids[i], call('HGET', T .. ':body', ids[i]))
    if not envelope then
      lose(ids[i], r)
    elseif not cancel_leased(ids[i], r, envelope) then
      local before = put_off_before(ids[i])
      call('HSET', T .. ':why', ids[i], string.format(NO_ROOM, before + 1))
      local at = now + math.min(ARGV[1] * 2 ^ before, math.max(ARGV[1], LONGEST_MS))
      delay_until(at, r[STREAM], r[HOST], member_of(ids[i], uncharged(r), r[STATUS], envelope), ':delayed:room')
      local t = tally(r[STREAM], r[GENERATION])
      t.leased, t.delayed = t.leased - 1, t.delayed + 1
      count_page(r[STREAM], r[GENERATION], r[HOST], -1)
    end
  end
end
save()
return result
