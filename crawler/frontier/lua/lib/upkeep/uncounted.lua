-- Leased requests that the counters miss, as these were damaged: the generations would have less than none once they
-- are done, and their runs would not end while any other request is leased.
local MOST_LEASED = 2000 -- records that are read

local function counted_leased(rows)
  local sum = 0
  for _, row in ipairs(rows) do sum = sum + row.leased end
  return sum
end

-- How many are leased of each name in T:gens; nothing where the counters know of all, or they are too many to read.
local function leased_by_name(rows)
  local leased = call('HLEN', T .. ':body')
  if counted_leased(rows) >= leased or leased > MOST_LEASED then return end
  local found = {}
  for _, record in ipairs(call('HVALS', T .. ':infl')) do
    local name = leased_name(record)
    if name then found[name] = (found[name] or 0) + 1 end
  end
  return found
end
