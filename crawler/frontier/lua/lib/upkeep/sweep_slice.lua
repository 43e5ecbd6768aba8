-- With more than AT_ONCE generations, of unfinished runs, a call of sweep looks at some of them in turn. Their counters
-- can be compared with what is queued only all at once: one call in WHOLE_MS does.
-- T:sweep STRING <ms when all generations were looked at>:<calls since>
local AT_ONCE, WHOLE_MS = 250, 600000

-- The names of generations that this call looks at, and whether these are all. Those of a generation, one for each
-- stream, are looked at together.
local function names_in_slice()
  local names, some = generation_names(), {}
  local at, calls = string.match(call('GET', T .. ':sweep') or '', '^(%d+):(%d+)$')
  local whole_at = tonumber(at) or 0
  if #names <= AT_ONCE or whole_at > now or whole_at + WHOLE_MS <= now then
    call('SET', T .. ':sweep', string.format('%.0f:0', now))
    return names, true
  end
  call('SET', T .. ':sweep', at .. ':' .. calls + 1)
  local slices = math.ceil(#names / AT_ONCE)
  for _, name in ipairs(names) do
    if (tonumber(string.match(name, '(%d*)$')) or 0) % slices == calls % slices then some[#some + 1] = name end
  end
  return some, false
end
