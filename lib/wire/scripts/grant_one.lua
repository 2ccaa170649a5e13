-- How one name is granted that nobody waits for; the script ends with it.  The build puts this where
-- grant.lua says that it uses it.
-- The name comes before the clock, so that only who gets it moves the clock to a proposal.
local call = redis.call
if not fenced and call('set', KEYS[1], ARGV[1], 'nx', 'px', ARGV[2]) then
    return 1
end
-- uses clock_once.lua
h = h + 1
local proposal, text = tonumber(ARGV[3]), ARGV[3]
local is_taken = fenced and call('set', KEYS[1], ARGV[1], 'nx', 'px', ARGV[2])
if is_taken and proposal > h then
    local time = call('time')
    h = math.max(h, math.min(proposal, time[1] * 1000000 + time[2] + ARGV[4]))
end
if h ~= proposal then
    text = string.format('%.0f', h)
end
local stored = redis.pcall('hset', clock, 'h', text)
if type(stored) ~= 'table' then
    return {is_taken and 1 or -1, h}
end
-- A user that may not write the clock (an ACL) gets no name for it.
if is_taken then
    call('del', KEYS[1])
end
return stored
