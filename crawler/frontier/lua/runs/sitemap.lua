#!lua flags=allow-oom
-- sitemap: which sitemaps of a run have to be read, and which were read to the end.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  spider
-- ARGV[2]  generation of the run
-- ARGV[3]  '1' to skip sitemaps that are unchanged since any run read them
-- ARGV[4]  digest of the one that was read to the end, '' for none
-- ARGV[5]  its lastmod, '' for none: then it counts as changed
-- ARGV[6]  ms until all this is forgotten
-- ARGV[7]  most sitemaps remembered per run or spider
-- ARGV[8...]  digest and lastmod of each sitemap to be read
-- Result: how many are left, UNKNOWN if that of ARGV[4] is none of the run's, and for each 1: read it, 0: unchanged,
-- -1: there are too many.
-- O(sitemaps of the call). T:sitemaps:<spider> HASH digest -> lastmod; T:sitemaps:<spider>:<generation> ZSET digest ->
-- 1 once it was read, else 0.
-- include: clock damage state
local UNKNOWN = -1
local known, run = T .. ':sitemaps:' .. ARGV[1], T .. ':sitemaps:' .. ARGV[1] .. ':' .. ARGV[2]
local most = tonumber(ARGV[7])
local room = most - call('ZCARD', run)

local function verdict(digest, lastmod)
  if ARGV[3] == '1' and lastmod ~= '' and call('HGET', known, digest) == lastmod then return 0 end
  if room <= 0 then return call('ZSCORE', run, digest) and 1 or -1 end
  room = room - call('ZADD', run, 'NX', 0, digest)
  return 1
end

local result = {0}
for i = 8, #ARGV, 2 do result[#result + 1] = verdict(ARGV[i], ARGV[i + 1]) end
if ARGV[4] ~= '' then
  call('ZADD', run, 'XX', 1, ARGV[4])
  if ARGV[5] ~= '' and (call('HLEN', known) < most or call('HEXISTS', known, ARGV[4]) == 1) then
    call('HSET', known, ARGV[4], ARGV[5])
    call('PEXPIRE', known, ARGV[6])
  end
end
local is_known = ARGV[4] == '' or call('ZSCORE', run, ARGV[4])
result[1] = is_known and call('ZCOUNT', run, 0, 0) or UNKNOWN
call('PEXPIRE', run, ARGV[6])
save()
return result
