#!lua flags=allow-oom
-- back_off: a host answered with a block page, which its report could not show: a complaint like a 429 without
-- Retry-After.
-- KEYS[1]  the shard's tag
-- ARGV[1]  host
-- ARGV[2]  ms since the wire start
-- ARGV[3]  the status that was reported
-- ARGV[4]  '1' if this request met a complaint before
-- ARGV[5]  a random number in [0, 1)
-- Result: for how many ms the host is paused; negative if its breaker opened. O(streams of the host).
-- include: clock damage state hosts addresses
-- include: pace pace_turns pace_trials pace_rests pace_pairs breaker adapt
local h = host(ARGV[1])
local p = pace_of(ARGV[1], h)
local wire, status = now - tonumber(ARGV[2]), tonumber(ARGV[3])
if status ~= 429 and status ~= 503 then -- otherwise the report was a complaint already
  if status < 500 then h[OK], h[BAD] = math.max(0, h[OK] - 1), h[BAD] + 1 end
  complain(h, p, wire, 0, tonumber(ARGV[4]), tonumber(ARGV[5]), true)
  local address = address_of(ARGV[1])
  if address then
    local a = host(address)
    complain(a, pace_of(address, a), wire, 0, tonumber(ARGV[4]), tonumber(ARGV[5]), true)
    unsettled[address] = true
  end
end
local opened = judge(h, p, wire, 0, false, true, tonumber(ARGV[5]))
unsettled[ARGV[1]] = true
save()
return opened > NOTED and -opened or math.max(0, h[BLOCKED] - now)
