-- What a report does; row: id (d), token (d), ms since wire start (I4), latency ms (I4), status or 0 (H), Retry-After
-- ms (I4), flags (B), then the origin ("https:443", in a group of several hosts "https:www.shop.example:443"), with a
-- fault, and with the first good response of an origin that the worker saw. Flags:
--   1, 2    the slot is kept for a follow-up request; a proxy failed: the host is excused, its pace stays unchanged
--   4, 8    the host is to blame, though it did not answer; it complained of this request before
--   LINKED, REDIRECTED, BESIDE  another site linked here, or redirected; it is not of the queue
-- jitter: a random number in [0, 1).
-- T:answers HASH host -> '\n<origin>\n' for each of its origins that ever gave a good response, at most MOST_ORIGINS.
-- Returns STALE if the token is stale or the slot already free, else NOTED; the ms if it opened the host's breaker,
-- CLOSED if it closed it.
local MOST_ORIGINS = 1000 -- bytes

-- Whether a fault is the host's own: not if the port never answered and another one did, nor for requests that other
-- sites linked to a host that never answered, or redirected, or that are not of the queue: any site may ask for these.
-- The latter open no breaker, but where a tripped one meets silence they keep it open: else a dead host is probed again
-- and again.
local function is_own(name, origin, flags, tripped)
  if origin == '' then return true end
  if flags >= REDIRECTED and not (flags >= BESIDE and tripped) then return false end
  local known = call('HGET', T .. ':answers', name)
  if known then return string.find(known, '\n' .. origin .. '\n', 1, true) ~= nil end
  return flags < LINKED
end

local function note_origin(name, origin)
  local known = call('HGET', T .. ':answers', name) or ''
  if #known < MOST_ORIGINS and not string.find(known, '\n' .. origin .. '\n', 1, true) then
    call('HSET', T .. ':answers', name, known .. '\n' .. origin .. '\n')
  end
end

-- When the next request follows a refused one, or the second of a pair, may differ from what its release says.
local function follow(h, p, wire, status, jitter)
  if status == 429 or status == 503 then return hasten(h, p, wire) end
  if status > 0 and status < 400 then send_second(h, p, wire, jitter) end
end

local function report(r, id, row, jitter)
  if not r or r[RELEASED] == 1 then return STALE end
  local elapsed, latency, status, retry_after, flags = struct.unpack('<I4I4HI4B', row, 17)
  local keeps_slot, excused, at_fault, heard = flags % 2 >= 1, flags % 4 >= 2, flags % 8 >= 4, flags % 16 >= 8
  local h, wire, answer, address = host(r[HOST]), now - elapsed, NOTED, address_of(r[HOST])
  local a = address and host(address)
  local again, origin = (heard or r[STATUS] == 429 or r[STATUS] == 503) and 1 or 0, string.sub(row, 32)
  local fault = at_fault or (status >= 500 and not (status == 503 and retry_after > 0))
  if fault and not is_own(r[HOST], origin, flags, status == 0 and h[TRIPS] > 0) then fault = nil end
  if fault == false and status > 0 and origin ~= '' then note_origin(r[HOST], origin) end
  if not excused then
    local granted = r[START_BY] - START_MS
    answer = adapt(h, pace_of(r[HOST], h), wire, granted, latency, status, retry_after, fault, again, jitter)
    if a then adapt(a, pace_of(address, a), wire, granted, latency, status, retry_after, nil, again, jitter) end
  end
  r[STATUS] = status
  unsettled[r[HOST]] = true -- its pace, or its breaker, may have changed
  if keeps_slot then
    for _, one in ipairs({h, a}) do
      one[NEXT] = one[NEXT] == r[RESERVED] and next_after(one, wire, true) or math.max(one[NEXT], next_after(one, wire))
    end
    if a then unsettled[address] = true end
    r[RESERVED] = -1
  else
    release(r, wire)
    if not excused then follow(h, pace_of(r[HOST], h), wire, status, jitter) end
    if not excused and a then follow(a, pace_of(address, a), wire, status, jitter) end
    if r[STREAM] == '' then
      end_lease(id, r)
      return answer
    end
  end
  changed_records[id] = r
  return answer
end
