-- Shares of limits that hosts on several shards have in common: the budgets of domains, spiders and runs, and the
-- pages of runs ('p:<spider>:<generation>'). A shard spends no more than the share that shard 0 has dealt it: see
-- share_deal.
-- T:shares:<day's begin> HASH name -> granted ever (4 kinds, as of budgets), given back ever (4), and which kinds are
-- spent on all shards together, as bits (d each).
-- T:wants HASH name -> the day's begin, of limits whose share is spent here.
-- One table: Lua allows 200 local names per script.
local SHARE_FORMAT, SHARE_BYTES, SHARES_KEPT_MS, WANT_MS = '<ddddddddd', 72, 259200000, 1000
local shares = {known = {}}

function shares.key(begin)
  return T .. ':shares:' .. string.format('%.0f', begin)
end

function shares.of(name, begin)
  if not shares.known[name] then
    local key = shares.key(begin)
    local raw = call('HGET', key, name)
    if raw and #raw ~= SHARE_BYTES then
      set_aside(key .. ' ' .. name, raw)
      raw = false
    end
    shares.known[name] = raw and {struct.unpack(SHARE_FORMAT, raw)} or {0, 0, 0, 0, 0, 0, 0, 0, 0}
  end
  return shares.known[name]
end

-- How much of a kind this shard may spend of `most`. '*' is each host's own.
function shares.allow(name, begin, kind, most)
  if SHARDS == 1 or string.sub(name, 1, 1) == '*' then return most end
  local share = shares.of(name, begin)
  return share[kind] - share[4 + kind]
end

-- Whether a kind is spent everywhere; if other shards may have some left, this one asks for it.
function shares.spent(name, begin, kind)
  if SHARDS == 1 or string.sub(name, 1, 1) == '*' then return true end
  call('HSET', T .. ':wants', name, string.format('%.0f', begin))
  return math.floor(shares.of(name, begin)[9] / 2 ^ kind) % 2 == 1
end
