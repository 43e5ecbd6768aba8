-- Budgets, and hours in which hosts may be visited. T:budgets HASH name -> terms; a name is 'd:<domain>' for all
-- hosts in it without nearer ones, '*' for each other host by itself, 's:<spider>', 'r:<spider>:<generation>'; and
-- 'v:<host>' for the hours of its robots.txt, of which nothing is spent.
-- Terms: ms until which they hold, 0 for ever; begin and end of the day in ms, 0: the budget never renews; most
-- requests, bytes, browser ms, cost in millionths (0: any number); then pairs of ms between which it is open (d each).
-- T:used:<day's begin> HASH name -> requests, bytes, browser ms, cost (d each).
-- T:closed HASH name -> '<ms until>:<why>' of those that held a request back.
local TERMS, USED_FORMAT, KEPT_MS, LOOK_MS, LATER_MS = '<ddddddd', '<dddd', 259200000, 60000, 10000
-- LATER_MS: until a request of a run that has spent its own budget is looked at again. Some of it may be given back; if
-- not, spent_runs.py drops the request.
local FEW_BUDGETS, DAY_MS = 100, 86400000
local KINDS = {'requests', 'bytes', 'browser', 'cost'}
local terms_of, used_of, budgets_of, found_as, said_closed = {}, {}, {}, {}, {}
local any_budgets, all_budgets

local function has_budgets()
  if any_budgets == nil then any_budgets = call('EXISTS', T .. ':budgets') == 1 end
  return any_budgets
end

-- What stands under names. A few budgets are read at once, however many hosts there are.
local function budgets_under(names)
  if all_budgets == nil then
    all_budgets = call('HLEN', T .. ':budgets') <= FEW_BUDGETS and {}
    local rows = all_budgets and call('HGETALL', T .. ':budgets') or {}
    for i = 1, #rows, 2 do all_budgets[rows[i]] = rows[i + 1] end
  end
  if not all_budgets then return call('HMGET', T .. ':budgets', unpack(names)) end
  local raws = {}
  for i, name in ipairs(names) do raws[i] = all_budgets[name] or false end
  return raws
end

local function read_terms(raw, name)
  if not raw then return false end
  local t = {struct.unpack(TERMS, raw .. string.rep('\255', 56 - #raw))}
  for i = 1, 7 do
    if not (math.abs(t[i]) < 1e18) then -- damaged: it counts again once it is stated again
      set_aside(T .. ':budgets ' .. name, raw)
      return false
    end
  end
  -- No longer stated; after a jump of the clock nobody has had the time to.
  if t[1] > 0 and t[1] <= now and now >= state.stepped + STATED_MS then return false end
  local b = {begin = t[2], stop = t[3], most = {t[4], t[5], t[6], t[7]}, open = {}}
  for at = 57, #raw - 15, 16 do
    local from, to = struct.unpack('<dd', raw, at)
    b.open[#b.open + 1] = {from, to}
  end
  while b.stop > 0 and now >= b.stop do b.begin, b.stop = b.stop, b.stop + DAY_MS end -- not restated yet
  return b
end

-- The first of the names that has terms, as the name under which spending is counted.
local function budget_of(names, own)
  for i, raw in ipairs(budgets_under(names)) do
    local b = read_terms(raw, names[i])
    if b then
      local name = names[i] == '*' and '*:' .. own or names[i]
      terms_of[name] = b
      return name
    end
  end
end

local function budget_named(name)
  if found_as[name] == nil then found_as[name] = budget_of({name}) or false end
  return found_as[name] or nil
end

-- The budgets that govern all requests of a spider to a host: the host's and the spider's.
local function budgets_for(of, spider)
  local key = of .. '\n' .. spider
  if budgets_of[key] then return budgets_of[key] end
  local names, found = {'d:' .. of}, {}
  for at in string.gmatch(of, '%.()') do names[#names + 1] = 'd:' .. string.sub(of, at) end
  names[#names + 1] = '*'
  found[1] = budget_of(names, of)
  found[#found + 1] = budget_named('s:' .. spider)
  found[#found + 1] = budget_named('v:' .. of)
  budgets_of[key] = found
  return found
end

local function budget_of_run(spider, generation)
  return budget_named('r:' .. spider .. ':' .. generation)
end

local function used_by(name)
  if not used_of[name] then
    local raw = call('HGET', T .. ':used:' .. string.format('%.0f', terms_of[name].begin), name)
    if raw and #raw ~= 32 then set_aside(T .. ':used ' .. name, raw) end
    used_of[name] = raw and #raw == 32 and {struct.unpack(USED_FORMAT, raw)} or {0, 0, 0, 0}
  end
  return used_of[name]
end

-- When a budget allows the next request, and why not now; nil for now. Without a reason it waits for its share.
local function closed_until(name)
  local b, used = terms_of[name], used_by(name)
  local opens = #b.open > 0 and math.huge
  for _, span in ipairs(b.open) do
    if span[1] <= now and now < span[2] then opens = false end
    if opens and span[1] > now then opens = math.min(opens, span[1]) end
  end
  if opens then return opens < math.huge and opens or now + LOOK_MS, 'hours' end
  for i, most in ipairs(b.most) do
    if most > 0 and used[i] >= shares.allow(name, b.begin, i, most) then
      if not shares.spent(name, b.begin, i) then return now + WANT_MS end
      return b.stop > now and b.stop or now + LATER_MS, KINDS[i]
    end
  end
end

-- The latest time until which any of the budgets is closed; nil if all are open.
local function held_until(names)
  local latest
  for _, name in ipairs(names) do
    local at, why = closed_until(name)
    if at then
      latest = math.max(latest or 0, at)
      if why and not said_closed[name] then
        said_closed[name] = true
        call('HSET', T .. ':closed', name, string.format('%.0f:%s', at, why))
      end
    end
  end
  return latest
end

-- How many requests the budgets still allow.
local function requests_left(names)
  local left = math.huge
  for _, name in ipairs(names) do
    local b = terms_of[name]
    if b.most[1] > 0 then left = math.min(left, shares.allow(name, b.begin, 1, b.most[1]) - used_by(name)[1]) end
  end
  return left
end

local function spend(name, requests, bytes, browser, cost)
  if string.sub(name, 1, 2) == 'v:' then return end
  local used = used_by(name)
  for i, by in ipairs({requests, bytes, browser, cost}) do used[i] = math.max(0, used[i] + by) end
  used.changed = true
end

local function save_budgets()
  local days = {}
  for name, used in pairs(used_of) do
    if used.changed then
      local day = terms_of[name].begin
      local rows = days[day] or {}
      days[day] = rows
      rows[#rows + 1], rows[#rows + 2] = name, struct.pack(USED_FORMAT, used[1], used[2], used[3], used[4])
    end
  end
  for day, rows in pairs(days) do
    local key = T .. ':used:' .. string.format('%.0f', day)
    call('HSET', key, unpack(rows))
    if day > 0 then call('PEXPIRE', key, KEPT_MS) end
  end
end
