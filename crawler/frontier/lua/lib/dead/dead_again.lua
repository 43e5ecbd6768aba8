-- A dead letter's page that a later run tries again: success removes the letter, failure replaces it.
-- T:dead:fp HASH <spider>:<fingerprint> -> how many letters have it; T:dead:id HASH -> the ids of the latest;
-- T:dead:again HASH -> those of letters whose page is being tried again.
local ID_BYTES = 200

local function is_letter(found)
  if type(found) ~= 'table' or type(found.status) ~= 'number' then return false end
  for _, name in ipairs({'stream', 'host', 'generation'}) do
    if type(found[name]) ~= 'string' then return false end
  end
  local of_other = found.shares == nil or type(found.shares) == 'string'
  return of_other and pcall(struct.unpack, 'Bc0Bc0', found.envelope, 11)
end

local function without_id(ids, id)
  return (string.gsub(string.gsub(' ' .. (ids or '') .. ' ', ' ' .. id .. ' ', ' ', 1), '^ *(.-) *$', '%1'))
end

local function drop_id(key, name, id)
  local ids = call('HGET', key, name)
  if not ids or ids == '' then return end
  local left = without_id(ids, id)
  if left == '' then call('HDEL', key, name) elseif left ~= ids then call('HSET', key, name, left) end
end

-- A letter is gone: its page is no longer known as dead by it. id: as a string.
local function unlink_letter(name, id)
  if call('HINCRBY', T .. ':dead:fp', name, -1) <= 0 then call('HDEL', T .. ':dead:fp', name) end
  drop_id(T .. ':dead:id', name, id)
  if state.again > 0 then
    drop_id(T .. ':dead:again', name, id)
    state.again = call('HLEN', T .. ':dead:again')
  end
end

local function supersede(stream, envelope)
  local name = spider_of(stream) .. ':' .. string.sub(envelope, 3, 10)
  local ids = call('HGET', T .. ':dead:again', name)
  if not ids then return end
  call('HDEL', T .. ':dead:again', name)
  state.again = call('HLEN', T .. ':dead:again')
  for id in string.gmatch(ids, '%d+') do
    local raw = call('HGET', T .. ':dead', id)
    local ok, letter = pcall(cmsgpack.unpack, raw or '')
    if raw then unlink_letter(name, id) end
    call('HDEL', T .. ':dead', id)
    call('ZREM', T .. ':dead:at', id)
    if raw and ok and is_letter(letter) and letter.generation ~= '' then
      count_retried(final_tally(letter.stream, letter.generation), letter)
    end
  end
end
