-- Runs: crawls with a name. All on shard 0; damage to a record costs only that run.
--   T:runs HASH id -> record (msgpack map)        T:runs:at ZSET id -> ms opened
--   T:runs:live SET ids of those not over         T:runs:keys HASH a producer's key -> id
--   T:runs:last STRING the last number given out  T:runs:events STREAM what happened to runs, for hooks
--   T:stats:<id> HASH what its workers counted: see run_stats
--   T:runs:until HASH spider -> msgpack map generation, counts: where its last run in a common generation ended
-- A record: id, name, spider, generation, state, producer, key, opened, sealed, ended (ms, 0: not yet), fresh, shares,
--   base and counts: what the generation's counters were when the run began, and what it came to.
local EVENTS_KEPT, DAY_MS = 10000, 86400000

local function run_of(id)
  local raw = call('HGET', T .. ':runs', id)
  local ok, run = pcall(cmsgpack.unpack, raw or '')
  if ok and type(run) == 'table' and run.id == id and run.generation and run.spider then return run end
  if raw then set_aside(T .. ':runs ' .. id, raw) end
  call('HDEL', T .. ':runs', id)
  call('ZREM', T .. ':runs:at', id)
  call('SREM', T .. ':runs:live', id)
  call('DEL', T .. ':stats:' .. id)
end

local function keep_run(run)
  local raw = cmsgpack.pack(run)
  call('HSET', T .. ':runs', run.id, raw)
  return raw
end

local function tell_run(run, event)
  call('XADD', T .. ':runs:events', 'MAXLEN', '~', EVENTS_KEPT, '*', 'event', event, 'run', run.id, 'at', now,
    'record', cmsgpack.pack(run))
end

-- The unfinished runs of which a field has that value. Only records that contain both are unpacked.
local function live_runs(field, value)
  local runs, ids = {}, call('SMEMBERS', T .. ':runs:live')
  local wanted = cmsgpack.pack(field) .. cmsgpack.pack(value)
  for first = 1, #ids, 1000 do
    local some = {unpack(ids, first, math.min(first + 999, #ids))}
    for i, raw in ipairs(call('HMGET', T .. ':runs', unpack(some))) do
      if not raw or string.find(raw, wanted, 1, true) then runs[#runs + 1] = run_of(some[i]) end
    end
  end
  return runs
end

-- The UTC day of Unix ms as YYYYMMDD: days since 0000-03-01 (Richards 2013).
local function day_of(ms)
  local days = math.floor(ms / DAY_MS) + 719468
  local era = math.floor(days / 146097)
  local of_era = days - era * 146097
  local year = math.floor((of_era - math.floor(of_era / 1460) + math.floor(of_era / 36524)
    - math.floor(of_era / 146096)) / 365)
  local of_year = of_era - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * of_year + 2) / 153)
  local day = of_year - math.floor((153 * month + 2) / 5) + 1
  month = month < 10 and month + 3 or month - 9
  return (year + era * 400 + (month <= 2 and 1 or 0)) * 10000 + month * 100 + day
end

-- A new run number: the day and the run's number on it in six digits. Its id is YYYYMMDD-n.
local function next_run()
  local raw, first = call('GET', T .. ':runs:last') or '0', day_of(now) * 1000000 + 1
  local last = tonumber(string.match(raw, '^%d+$'))
  if not last or last >= 1e14 then
    set_aside(T .. ':runs:last', raw)
    last = 0
  end
  local number = math.max(first, last + 1)
  local id
  repeat
    id = string.format('%08.0f-%.0f', math.floor(number / 1000000), number % 1000000)
    number = number + 1
  until call('HEXISTS', T .. ':runs', id) == 0
  local generation = string.format('%.0f', number - 1)
  call('SET', T .. ':runs:last', generation)
  return id, generation
end

-- Not to be given out again, though Redis was emptied or set back since: workers hold pages of the run that had it.
local function keep_number(number)
  local last = call('GET', T .. ':runs:last') or '0'
  local is_good = string.find(last, '^%d+$') and number < (day_of(now) + 1) * 1000000
  if is_good and number > tonumber(last) then call('SET', T .. ':runs:last', string.format('%.0f', number)) end
end

-- Evicts the oldest finished runs, some per call: where fewer are kept than before there may be very many.
local FORGOTTEN_MOST = 100
local function forget_runs(kept)
  local over = math.min(call('ZCARD', T .. ':runs:at') - kept, FORGOTTEN_MOST)
  if over <= 0 then return end
  for _, id in ipairs(call('ZRANGE', T .. ':runs:at', 0, over + call('SCARD', T .. ':runs:live') - 1)) do
    if over > 0 and call('SISMEMBER', T .. ':runs:live', id) == 0 then
      local run = run_of(id)
      if run and run.key ~= '' then call('HDEL', T .. ':runs:keys', run.key) end
      call('HDEL', T .. ':runs', id)
      call('ZREM', T .. ':runs:at', id)
      call('DEL', T .. ':stats:' .. id)
      over = over - 1
    end
  end
end

-- Stores a new run under the next id, in its own generation unless it has one.
local function begin_run(run, kept)
  local id, generation = next_run()
  run.id, run.generation, run.state = id, run.generation or generation, 'open'
  run.opened, run.sealed, run.ended, run.counts = now, 0, 0, ''
  local raw = keep_run(run)
  call('ZADD', T .. ':runs:at', now, id)
  call('SADD', T .. ':runs:live', id)
  if run.key ~= '' then call('HSET', T .. ':runs:keys', run.key, id) end
  tell_run(run, 'start')
  forget_runs(tonumber(kept))
  return raw
end
