-- How a release ends.  The build puts this where a script says that it uses it.
-- uses handover.lua

-- The token leaves the queue of the name, and the next waiter may have it.
local function leave(name, token, is_free)
    if redis.call('zrem', 'redlock:queue:' .. name, token) == 1 then
        redis.call('del', 'redlock:waiter:' .. token)
    end
    if is_free then
        hand_over(name)
    else
        hand_over_if_open(name)
    end
end

-- A release succeeds also for a user that may not see the waiters.
local function pass_on(name, token, is_free)
    pcall(leave, name, token, is_free)
end
