-- The rules that hosts are crawled by: a request is sent under the strictest rule that a live worker of a spider with
-- work on its host states for it. A statement's rule for a host is looked up by name, so that nothing is kept per host
-- and worker; workers with equal rules share a statement.
-- T:rules ZSET '<spider>:<digest>:<delay ms>:<cap>:<burst>:<1: obeys robots.txt>:<1: has exceptions>', ':ip' behind it
-- for POLITENESS_GROUP = 'ip' -> ms when a worker last stated it; T:rules:<digest> HASH '=<host>', or '<domain>' for
-- all hosts in it without nearer ones -> delay (I4), cap (H), burst (H).
-- Without statements the strictest rule pushed by spiders with work on the host counts; if there is only one spider it
-- may also relax it.
local SILENT_MS = 12000 -- several missed statements: a killed worker's rules and their delays end within 15 s
local statements -- by_address: any of them wants hosts with the same address to be crawled as one

-- While the server was silent nobody could state anything: statements from before it still count.
local function is_live(stated_at)
  return stated_at and now < math.max(tonumber(stated_at), state.stepped) + SILENT_MS
end

local function read_statement(text)
  local spider, digest, delay, cap, burst, obeys, special, by =
    string.match(text, '^([^:]*):(%x+):(%d+):(%d+):(%d+):([01]):([01])(.*)$')
  return spider and {
    spider = spider, key = T .. ':rules:' .. digest, obeys = obeys == '1', special = special == '1',
    delay = tonumber(delay), cap = tonumber(cap), burst = tonumber(burst), by_address = by == ':ip',
  }
end

-- The live statements, read once per script.
local function load_statements()
  if statements then return statements end
  statements = {}
  local rows = call('ZRANGE', T .. ':rules', 0, -1, 'WITHSCORES')
  for i = 1, #rows, 2 do
    local s = is_live(rows[i + 1]) and read_statement(rows[i])
    if s then
      statements[#statements + 1] = s
      statements.by_address = statements.by_address or s.by_address
    end
  end
  return statements
end

local function works_on(h, spider)
  for _, behind in ipairs({'\n', ':', '!'}) do
    if string.find(h[STREAMS], '\n' .. spider .. behind, 1, true) then return true end
  end
  return false
end

local function rule_of(s, name)
  if not s.special then return s.delay, s.cap, s.burst end
  local names = {'=' .. name, name}
  for at in string.gmatch(name, '%.()') do names[#names + 1] = string.sub(name, at) end
  for _, raw in ipairs(call('HMGET', s.key, unpack(names))) do
    if raw and #raw == 8 then return struct.unpack('<I4HH', raw) end
  end
  return s.delay, s.cap, s.burst
end

-- Sets the rules of a host. Its next request keeps the new distance from the last one, not the old.
local function set_rules(name, h, delay, cap, burst)
  local before, room = h[DELAY], 2 - h[BURST]
  h[FLOOR], h[CAP], h[BURST] = delay, cap, burst
  h[WIDTH] = h[CAP]
  if THROTTLE == 1 then
    h[DELAY] = math.max((h[RAW] or before > 0) and before or THROTTLE_START_MS, least(h))
  else
    h[DELAY] = h[HURT] > 0 and math.max(before, least(h)) or least(h)
  end
  unsettled[name] = true
  if h[DELAY] < before then h[HOLD] = 0 end -- for a turn by the longer delay
  if h[NEXT] == 0 then return end
  local later = (2 - h[BURST]) * h[DELAY] - room * before
  if later > 0 then
    h[NEXT] = h[NEXT] + later
  elseif h[INFLIGHT] == 0 then -- otherwise the report brings it forward
    h[NEXT] = h[NEXT] + math.min(0, h[DELAY] - before)
  end
end

-- Applies the rules in force to the next request of a host, which is one of `spider`. own: an additional statement.
-- of_all: also what spiders without work on the host state.
local function enforce(name, h, spider, own, of_all)
  local delay, cap, burst, obeys = -1, math.huge, math.huge, false
  local function add(other_delay, other_cap, other_burst)
    delay, cap, burst = math.max(delay, other_delay), math.min(cap, other_cap), math.min(burst, other_burst)
  end
  for _, s in ipairs(load_statements()) do
    if of_all or s.spider == spider or works_on(h, s.spider) then
      add(rule_of(s, name))
      obeys = obeys or s.obeys
    end
  end
  if delay < 0 then return false end
  if own then add(unpack(own)) end
  local turned = (h[CRAWL] > 0 and not obeys) or (h[CRAWL] < 0 and obeys)
  if turned then h[CRAWL] = -h[CRAWL] end -- below 0: known, but not obeyed
  if turned or delay ~= h[FLOOR] or cap ~= h[CAP] or burst ~= h[BURST] then set_rules(name, h, delay, cap, burst) end
  return true
end

-- Applies the rule of a push to a host, unless workers state one.
local function configure(name, stream, delay, cap, burst)
  local h = host(name)
  if h[RAW] and delay == h[FLOOR] and cap == h[CAP] and burst == h[BURST] then return end
  local spider, alone = spider_of(stream), true
  for _, s in ipairs(h[RAW] and load_statements() or {}) do
    if s.spider == spider or works_on(h, s.spider) then return end
  end
  for other in string.gmatch(h[STREAMS], '[^\n]+') do
    alone = alone and spider_of(other) == spider
  end
  if not alone then
    delay, cap, burst = math.max(delay, h[FLOOR]), math.min(cap, h[CAP]), math.min(burst, h[BURST])
  end
  set_rules(name, h, delay, cap, burst)
end

-- Applies the rules in force to an address, from which a request to the host h is sent next: those for a host that
-- nobody names, of all workers; without any, the host's delay.
local function enforce_address(address, a, h)
  if not enforce(address, a, '', nil, true) and h[FLOOR] > a[FLOOR] then set_rules(address, a, h[FLOOR], a[CAP], 1) end
end
