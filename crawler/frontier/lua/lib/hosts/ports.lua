-- Which port of a host a circuit breaker is about. T:blamed HASH host -> the origin because of which its breaker opened
-- first, in the form of lib/report, until a request to another one is tried.
local PORTS = {http = 80, https = 443}

-- The origin of a request of the host's own; false for one that another site led here, and where it cannot be told.
local function origin_of(name, envelope)
  if string.find(envelope, 'led_here', 1, true) then return false end
  local scheme, authority = string.match(envelope, '\161u.-(https?)://([^/?#]+)')
  if not scheme then return false end
  local of, port = string.match(authority, '^(.-):(%d+)$')
  of = of or authority
  return scheme .. ':' .. (of == name and '' or of .. ':') .. (tonumber(port) or PORTS[scheme])
end

-- A score before all that is queued there.
local function score_before(place)
  local score = now
  for _, first in ipairs({
    call('LINDEX', T .. ':q:' .. place, 0) or '', call('ZRANGE', T .. ':early:' .. place, 0, 0)[1] or '',
  }) do
    if #first >= 8 then score = math.min(score, (struct.unpack('>d', first))) end
  end
  return score - 1
end

-- A host of which one port is down is tried at once with a request to another one, which is queued first; once in a
-- series of openings, or a stream of pushes would keep probing a host that is down.
local function try_now(name, h)
  call('HDEL', T .. ':blamed', name)
  if h[HURT] == 0 then h[BLOCKED], unsettled[name] = now, true end
end
