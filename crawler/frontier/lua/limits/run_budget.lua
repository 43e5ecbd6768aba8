#!lua flags=no-writes
-- run_budget: what a run has spent of its own budget on this shard, and how many of its requests are leased, at one
-- moment.
-- KEYS[1]  the shard's tag
-- ARGV[1]  name of the budget (see lib/budgets)
-- ARGV[2...]  <stream>:<generation> of each stream of its spider
-- Result: leased, then used and most of four kinds (9 d); '' where it has no such budget. O(streams).
-- include: clock damage state shares budgets
local budget = budget_named(ARGV[1]) and terms_of[ARGV[1]]
if not budget then return '' end
local leased = 0
for i = 2, #ARGV do leased = leased + (whole_number(call('HGET', T .. ':gen:' .. ARGV[i], 'leased') or nil) or 0) end
local used, most = used_by(ARGV[1]), budget.most
return struct.pack('<ddddddddd', leased, used[1], used[2], used[3], used[4], unpack(most))
