-- Takes the names, all or none, but not past their waiters.  For a fence each grant
-- advances the master's logical clock, up to the client's proposal if that is ahead.  Each
-- refusal advances it by one: that orders the waiters.
-- KEYS the names, redlock:clock
-- ARGV token, ttl ms, proposal us (0: without a fence), window us.
-- A proposal further above TIME than the window is cut.
-- Returns {1, clock} taken, 1 taken without a fence, {-1, clock} a name is held or has a waiter.
local names, clock = #KEYS - 1, KEYS[#KEYS]
local fenced = ARGV[3] ~= '0'

-- One name that nobody waits for: no function is made, for that is costly.
if names == 1 and redis.call('exists', 'redlock:queue:' .. KEYS[1]) == 0 then
    -- uses grant_one.lua
end

local queues = {}
for i = 1, names do
    queues[i] = 'redlock:queue:' .. KEYS[i]
end
local is_waited_for = redis.call('exists', unpack(queues)) > 0

-- uses clock.lua
-- uses move_on.lua

if is_waited_for then
    -- uses serve_first.lua
end
if redis.call('exists', unpack(KEYS, 1, names)) > 0 then
    return {-1, move_on(h + 1)}
end
if fenced then
    local proposal = tonumber(ARGV[3])
    -- uses proposed.lua
end
for i = 1, names do
    redis.call('set', KEYS[i], ARGV[1], 'px', ARGV[2])
end
return fenced and {1, h} or 1
