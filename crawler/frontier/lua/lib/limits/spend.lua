-- What a request spends of all budgets that govern it: its host's, its spider's and its run's.
local function budgets_over(of, spider, generation)
  local names = {unpack(budgets_for(of, spider))}
  names[#names + 1] = budget_of_run(spider, generation)
  return names
end

local function spend_all(of, spider, generation, ...)
  for _, name in ipairs(budgets_over(of, spider, generation)) do spend(name, ...) end
end

-- Counts back a leased request that was never sent, if the day in which it was leased is not over.
local function refund_request(r)
  if r[STREAM] == '' or r[STARTED] > 0 or not has_budgets() then return end
  for _, name in ipairs(budgets_over(r[HOST], spider_of(r[STREAM]), r[GENERATION])) do
    if terms_of[name].begin <= r[START_BY] - START_MS then spend(name, -1, 0, 0, 0) end
  end
end
