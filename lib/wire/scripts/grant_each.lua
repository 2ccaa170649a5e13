-- grant.lua for several leases of one name each, one after the other.
-- KEYS a name for each, redlock:clock
-- ARGV window us (see there), and for each: token, ttl ms, proposal us (0: without a fence)
-- Returns for each the clock if it was granted with a fence, 0 if without one; the clock
-- below zero if the name is held or has a waiter; an error if it could not be granted.
local count, clock = #KEYS - 1, KEYS[#KEYS]
local time = redis.call('time')
local most = time[1] * 1000000 + time[2] + tonumber(ARGV[1])

-- uses each_clock.lua
local function is_waited_for()
    return false
end
local serve_those_who_wait
if redis.call('exists', unpack(queues)) > 0 then
    -- uses handover.lua
    function is_waited_for(i)
        return redis.call('exists', queues[i]) > 0
    end
    -- True if a waiter is left.
    function serve_those_who_wait(name)
        hand_over_if_open(name)
        h = logical_clock()
        return first_alive(name)
    end
end

local function grant(i, token, ttl, proposal)
    local name, fenced, waits = KEYS[i], proposal ~= 0, is_waited_for(i)
    if not fenced and not waits and redis.call('set', name, token, 'nx', 'px', ttl) then
        return 0
    end
    if not h or h <= 0 then
        return redis.error_reply('NOCLOCK redlock:clock is gone')
    end
    if waits and serve_those_who_wait(name) or redis.call('exists', name) > 0 then
        return -move_on(h + 1)
    end
    local granted = fenced and move_on(math.max(h + 1, math.min(proposal, most))) or 0
    redis.call('set', name, token, 'px', ttl)
    return granted
end

-- An error of one lease must not become the error of all: a client takes that
-- for nothing done.
local said = {}
for i = 1, count do
    local done, it = pcall(grant, i, ARGV[3 * i - 1], ARGV[3 * i], tonumber(ARGV[3 * i + 1]))
    said[i] = (done or type(it) == 'table') and it or redis.error_reply(tostring(it))
end
return said
