-- How many pages of a run may be fetched, in all and per host; of the run's each shard has its share (lib/shares).
-- T:limited SET <spider>:<generation> of runs with any limit; T:pages:<spider>:<generation> HASH host, '' for all ->
-- pages leased or at their end (I4), most (I4), 0 for any number.
-- Leases count; putting a request back into the queue undoes that.
local PAGES_FORMAT, DEEPEST = '<I4I4', 63
local page_counts, any_limits, limits_of = {}, nil, {}
local in_window = {} -- filled by lib/dropped in `window` mode

local function is_limited(name)
  if any_limits == nil then any_limits = call('EXISTS', T .. ':limited') == 1 end
  if any_limits and limits_of[name] == nil then limits_of[name] = call('SISMEMBER', T .. ':limited', name) == 1 end
  return any_limits and limits_of[name]
end

local function run_name(stream, generation)
  return spider_of(stream) .. ':' .. generation
end

local function page_count(name, of)
  local counts = page_counts[name] or {}
  page_counts[name] = counts
  if not counts[of] then
    local raw = call('HGET', T .. ':pages:' .. name, of)
    local used, most = 0, 0
    if raw and #raw == 8 then
      used, most = struct.unpack(PAGES_FORMAT, raw)
    elseif raw then
      set_aside(T .. ':pages:' .. name .. ' ' .. of, raw)
    end
    counts[of] = {used = used, most = most, raw = raw}
  end
  return counts[of]
end

-- The latest push sets the limits of a run and a host.
local function limit_pages(name, of, pages, pages_per_host)
  if pages + pages_per_host == 0 and not is_limited(name) then return end
  if not is_limited(name) then
    call('SADD', T .. ':limited', name)
    any_limits, limits_of[name] = true, true
  end
  page_count(name, '').most, page_count(name, of).most = pages, pages_per_host
end

-- The limit that forbids another page of a host, or nil; 'share': there may be pages left on other shards.
local function limit_reached(name, of)
  local all, own = page_count(name, ''), page_count(name, of)
  if own.most > 0 and own.used >= own.most then return 'pages_per_host' end
  if all.most > 0 and all.used >= shares.allow('p:' .. name, 0, 1, all.most) then
    return shares.spent('p:' .. name, 0, 1) and 'pages' or 'share'
  end
end

local function count_page(stream, generation, of, by)
  local name = run_name(stream, generation)
  if not is_limited(name) then return end
  for _, which in ipairs({'', of}) do
    local count = page_count(name, which)
    if which == '' or count.most > 0 or count.raw then count.used = math.max(0, count.used + by) end
  end
end

-- The order of requests of a limited run: most urgent first, then nearest to a pushed page, unless the run takes longer
-- than RANK_MS.
local function ranked_score(priority, depth)
  return now - (priority * (DEEPEST + 1) - math.min(depth, DEEPEST)) * RANK_MS
end

-- Counts an accepted request beyond the page limit.
local function drop_page(stream, generation, reason, envelope)
  count_cut(tally(stream, generation), reason)
  if in_window.leave then in_window.leave(stream, generation, envelope) end
end

local function save_pages()
  for name, counts in pairs(page_counts) do
    local rows = {}
    for of, count in pairs(counts) do
      local raw = struct.pack(PAGES_FORMAT, count.used, count.most)
      if raw ~= count.raw and (count.raw or count.used + count.most > 0) then
        rows[#rows + 1], rows[#rows + 2] = of, raw
      end
    end
    if #rows > 0 then call('HSET', T .. ':pages:' .. name, unpack(rows)) end
  end
end
