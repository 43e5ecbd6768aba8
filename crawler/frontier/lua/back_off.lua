#!lua flags=allow-oom
-- back_off: a host's answer was a block page: step back as for a 429, which its status may not have told.
-- KEYS[1] the shard's tag. ARGV[1] host, ARGV[2] ms since the wire start, ARGV[3] a random number in [0, 1).
-- Result: for how many ms the host is left alone. O(streams of the host).
-- include: clock state hosts adapt
local h = host(ARGV[1])
step_back(h, now - tonumber(ARGV[2]), 0, tonumber(ARGV[3]))
unsettled[ARGV[1]] = true
save_hosts()
save_state()
return h[BLOCKED] - now
