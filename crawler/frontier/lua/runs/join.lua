#!lua flags=allow-oom
-- join: a worker starts a spider: it joins the unfinished crawl, or opens the next generation.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  spider
-- ARGV[2]  worker; '' only checks whether one with these arguments may join
-- ARGV[3]  ms of silence after which a worker counts as dead
-- ARGV[4]  'over': nothing is queued, leased or delayed; 'under way': something is; 'endless': it waits for work
-- ARGV[5]  the generation that was current when that was checked
-- ARGV[6]  the spider's arguments (msgpack map)
-- ARGV[7]  the project that the spider is of; '' if it has no name
-- T:current HASH spider -> generation; T:arguments HASH spider -> ARGV[6]; T:projects HASH spider -> ARGV[7];
-- T:joined HASH worker -> spider.
-- Result: generation, 1 if it was opened now (or would be, for ''), the arguments of the crawl, its project; if they
-- differ from ARGV[6] and ARGV[7] it was not joined. A project without a name is as good as any.
-- O(workers).
-- include: clock damage state

-- Whether a value was unpacked to a map of texts, with nothing behind it.
local function is_map_of_texts(ok, map, ...)
  if not ok or type(map) ~= 'table' or select('#', ...) > 0 then return false end
  for name, value in pairs(map) do
    if type(name) ~= 'string' or type(value) ~= 'string' then return false end
  end
  return true
end

local EMPTY_LIST = '\144' -- in Lua it is an empty map
local spider, worker, running = ARGV[1], ARGV[2], false
local alive = {}
for _, name in ipairs(call('ZRANGEBYSCORE', T .. ':workers', now - ARGV[3], '+inf')) do alive[name] = true end
local joined = call('HGETALL', T .. ':joined')
for i = 1, #joined, 2 do
  if not alive[joined[i]] then
    call('HDEL', T .. ':joined', joined[i])
  elseif joined[i] ~= worker and joined[i + 1] == spider then
    running = true
  end
end
local current = call('HGET', T .. ':current', spider) or '0'
local arguments = call('HGET', T .. ':arguments', spider) or ARGV[6]
if arguments == EMPTY_LIST or not is_map_of_texts(pcall(cmsgpack.unpack, arguments)) then
  set_aside(T .. ':arguments ' .. spider, arguments)
  arguments = ARGV[6]
end
local project = call('HGET', T .. ':projects', spider) or ''
if project == '' or ARGV[7] == '' then project = ARGV[7] end
if (arguments ~= ARGV[6] or project ~= ARGV[7]) and (running or ARGV[4] == 'under way') then
  save()
  return {current, 0, arguments, project}
end
local is_new = ARGV[4] == 'over' and not running and current == ARGV[5]
if worker == '' then return {current, is_new and 1 or 0, ARGV[6], ARGV[7]} end
local opened = 0
if is_new then
  current, opened = tostring(call('HINCRBY', T .. ':current', spider, 1)), 1
end
call('HSET', T .. ':arguments', spider, ARGV[6])
if ARGV[7] ~= '' then call('HSET', T .. ':projects', spider, ARGV[7]) end
call('HSET', T .. ':joined', worker, spider)
save()
return {current, opened, ARGV[6], ARGV[7]}
