-- Hosts with work that are in none of a stream's three sets, nor in the line of their address, because such a key was
-- lost; and hosts that hold slots for leases whose records were lost. T:refile STRING cursor of the pass over all hosts
-- that looks for them, some per call; expires with a pass that nobody goes on with.
local PAGE, PASS_MS = 512, 60000
local all_are -- whether this call ended a pass and found none
local cursor = '0'

local function is_filed(stream, name)
  local address = address_of(name)
  return call('ZSCORE', T .. ':due:' .. stream, name) or call('ZSCORE', T .. ':wait:' .. stream, name)
    or call('SISMEMBER', T .. ':park:' .. stream, name) == 1
    or (address and call('ZSCORE', line_of(stream, address), name))
end

-- Files a host where lease looks at it at once; whether it was filed nowhere.
local function file_again(name)
  local is_lost = false
  for stream in string.gmatch(host(name)[STREAMS], '[^\n]+') do
    if not is_filed(stream, name) then
      call('ZADD', T .. ':wait:' .. stream, now, name)
      set_aside(T .. ':wait:' .. stream .. ' ' .. name, 'filed again')
      is_lost = true
    end
  end
  return is_lost
end

local function free_slots(name)
  local h = host(name)
  if h[INFLIGHT] > 0 and h[INFLIGHT] > slots_of(name) then h[INFLIGHT], unsettled[name] = slots_of(name), true end
end

local LOOKED_AT = 64

-- Looks at some hosts at their cap: of one that leased nothing for longer than any lease lasts the slots may be held by
-- no lease, because a record was damaged.
local function free_silent(stream)
  local names = call('SRANDMEMBER', T .. ':park:' .. stream, LOOKED_AT)
  load_hosts(names)
  for _, name in ipairs(names) do
    if host(name)[NEXT] + HARD_CAP_MS + 2 * LEASE_MS < now then free_slots(name) end
  end
end

-- Whether each host with work is filed; false while the pass is under way.
local function all_filed()
  if all_are ~= nil then return all_are end
  local from = string.match(call('GET', T .. ':refile') or '', '^%d+$') or '0'
  local page = call('HSCAN', T .. ':hosts', from, 'COUNT', PAGE)
  local names = {}
  for i = 1, #page[2], 2 do names[#names + 1] = page[2][i] end
  cursor, all_are = page[1], page[1] == '0'
  load_hosts(names)
  for _, name in ipairs(names) do
    if file_again(name) then all_are = false end
    free_slots(name)
  end
  if cursor == '0' then call('DEL', T .. ':refile') else call('SET', T .. ':refile', cursor, 'PX', PASS_MS) end
  return all_are
end

-- Whether the pass needs further calls.
local function looks_on()
  return cursor ~= '0'
end
