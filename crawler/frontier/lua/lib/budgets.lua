-- Budgets, and hours in which hosts may be visited. T:budgets HASH name -> terms; a name is 'd:<domain>' for all
-- hosts in it without nearer ones, '*' for each other host by itself, 's:<spider>', 'r:<spider>:<generation>'.
-- Terms: ms until which they hold, 0 for ever; begin and end of the day in ms, 0: the budget never renews; most
-- requests, bytes, browser ms, cost in millionths (0: any number); then pairs of ms between which it is open (d each).
-- T:used:<day's begin> HASH name -> requests, bytes, browser ms, cost (d each).
-- T:closed HASH name -> '<ms until>:<why>' of those that held a request back.
local TERMS, USED_FORMAT, KEPT_MS, LOOK_MS, LATER_MS = '<ddddddd', '<dddd', 259200000, 60000, 900000
local KINDS = {'requests', 'bytes', 'browser', 'cost'}
local terms_of, used_of, budgets_of, any_budgets = {}, {}, {}, nil

local function has_budgets()
  if any_budgets == nil then any_budgets = call('EXISTS', T .. ':budgets') == 1 end
  return any_budgets
end

local function read_terms(raw)
  if not raw or #raw < 56 then return false end
  local t = {struct.unpack(TERMS, raw)}
  if t[1] > 0 and t[1] <= now then return false end -- nobody states it any more
  local b = {begin = t[2], stop = t[3], most = {t[4], t[5], t[6], t[7]}, open = {}}
  for at = 57, #raw - 15, 16 do
    local from, to = struct.unpack('<dd', raw, at)
    b.open[#b.open + 1] = {from, to}
  end
  while b.stop > 0 and now >= b.stop do b.begin, b.stop = b.stop, b.stop + 86400000 end -- not stated anew yet
  return b
end

-- The first of names that has terms, as the name of what is spent there.
local function budget_of(names, own)
  for i, raw in ipairs(call('HMGET', T .. ':budgets', unpack(names))) do
    local b = read_terms(raw)
    if b then
      local name = names[i] == '*' and '*:' .. own or names[i]
      terms_of[name] = b
      return name
    end
  end
end

-- Those that govern a request: its host's, its spider's, and its run's where that is named.
local function budgets_for(of, spider, generation)
  local key = of .. '\n' .. spider .. '\n' .. (generation or '')
  if budgets_of[key] then return budgets_of[key] end
  local names, found = {'d:' .. of}, {}
  for at in string.gmatch(of, '%.()') do names[#names + 1] = 'd:' .. string.sub(of, at) end
  names[#names + 1] = '*'
  found[1] = budget_of(names, of)
  found[#found + 1] = budget_of({'s:' .. spider})
  if generation then found[#found + 1] = budget_of({'r:' .. spider .. ':' .. generation}) end
  budgets_of[key] = found
  return found
end

local function used_by(name)
  if not used_of[name] then
    local raw = call('HGET', T .. ':used:' .. string.format('%.0f', terms_of[name].begin), name)
    if raw and #raw ~= 32 then set_aside(T .. ':used ' .. name, raw) end
    used_of[name] = raw and #raw == 32 and {struct.unpack(USED_FORMAT, raw)} or {0, 0, 0, 0}
  end
  return used_of[name]
end

-- When a budget lets the next request go, and why not now; nil for now.
local function closed_until(name)
  local b, used = terms_of[name], used_by(name)
  local opens = #b.open > 0 and math.huge
  for _, span in ipairs(b.open) do
    if span[1] <= now and now < span[2] then opens = false end
    if opens and span[1] > now then opens = math.min(opens, span[1]) end
  end
  if opens then return opens < math.huge and opens or now + LOOK_MS, 'hours' end
  for i, most in ipairs(b.most) do
    if most > 0 and used[i] >= most then return b.stop > now and b.stop or now + LATER_MS, KINDS[i] end
  end
end

-- The latest of the times until which one of the budgets is closed; nil where all are open.
local function held_until(names)
  local latest
  for _, name in ipairs(names) do
    local at, why = closed_until(name)
    if at then
      latest = math.max(latest or 0, at)
      call('HSET', T .. ':closed', name, string.format('%.0f:%s', at, why))
    end
  end
  return latest
end

-- How many requests the budgets leave.
local function requests_left(names)
  local left = math.huge
  for _, name in ipairs(names) do
    local most = terms_of[name].most[1]
    if most > 0 then left = math.min(left, most - used_by(name)[1]) end
  end
  return left
end

local function spend(names, requests, bytes, browser, cost)
  for _, name in ipairs(names) do
    local used = used_by(name)
    for i, by in ipairs({requests, bytes, browser, cost}) do used[i] = math.max(0, used[i] + by) end
    used.changed = true
  end
end

-- A leased request that was never sent.
local function refund_request(r)
  if r[STARTED] > 0 or r[STREAM] == '' or not has_budgets() then return end
  spend(budgets_for(r[HOST], spider_of(r[STREAM]), r[GENERATION]), -1, 0, 0, 0)
end

local function save_budgets()
  for name, used in pairs(used_of) do
    if used.changed then
      local key = T .. ':used:' .. string.format('%.0f', terms_of[name].begin)
      call('HSET', key, name, struct.pack(USED_FORMAT, used[1], used[2], used[3], used[4]))
      if terms_of[name].begin > 0 then call('PEXPIRE', key, KEPT_MS) end
    end
  end
end
