-- Operators' commands in force, on every shard: T:control HASH '<verb> <what>' -> ms when. Verbs: pause, cancel; what:
-- 'spider <name>', 'host <name>', 'run <spider>:<generation>'. Requests of paused or cancelled runs go from the queue
-- to T:delayed:aside, as in lib/delayed, where control_aside sorts them: those of resumed runs are queued again.
local is_controlled = call('EXISTS', T .. ':control') == 1
local controls = {}

local function is_said(verb, what, name)
  if not is_controlled then return false end
  local field = verb .. ' ' .. what .. ' ' .. name
  if controls[field] == nil then controls[field] = call('HEXISTS', T .. ':control', field) == 1 end
  return controls[field]
end

local function run_named(stream, generation)
  return string.match(stream, '^[^:!]*') .. ':' .. generation
end

local function is_cancelled(stream, generation)
  return is_controlled and is_said('cancel', 'run', run_named(stream, generation))
end
