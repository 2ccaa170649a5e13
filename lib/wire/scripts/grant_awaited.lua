-- How names are granted of which one has a queue; the script ends with it.  The build puts this where
-- grant_each.lua says that it uses it.
-- uses each_clock.lua
-- uses handover.lua
-- uses asked.lua

-- True if a waiter is left.
local function serve_those_who_wait(name)
    hand_over_if_open(name)
    h = logical_clock()
    return first_alive(name)
end

local function grant(i)
    local token, ttl, proposal = asked(i)
    local name, fenced = KEYS[i], proposal ~= 0
    local waits = redis.call('exists', queues[i]) > 0
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

for i = 1, count do
    local done, it = pcall(grant, i)
    said[i] = (done or type(it) == 'table') and it or redis.error_reply(tostring(it))
end
return said
