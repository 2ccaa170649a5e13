-- The waiters of a name, and how it is given to the next one.  The build puts this where a
-- script says that it uses it.
--   redlock:queue:<name>    sorted set of tokens by ticket: the same order on all masters
--   redlock:waiter:<token>  cmsgpack {channel, name, name...}; expires when the waiter is
--                           dead.  What the waiter is given lasts for as long as that.
-- These are not in KEYS: they follow from the names, and a master is no cluster.

-- The first live waiter of the name, the ms that it has left, and its ticket.  The dead
-- ahead of it are removed.  Returns nil if the key is no queue.  A user that may not look
-- gets an error, which a release catches by pcall, for a release must not fail.
local function first_alive(name)
    local queue = 'redlock:queue:' .. name
    while true do
        local head = redis.pcall('zrange', queue, 0, 0, 'withscores')
        if head.err and string.sub(head.err, 1, 9) ~= 'WRONGTYPE' then
            redis.call('zrange', queue, 0, 0)
        end
        if not head[1] then
            return nil
        end
        local left = redis.call('pttl', 'redlock:waiter:' .. head[1])
        if left > 0 then
            return head[1], left, tonumber(head[2])
        end
        redis.call('zrem', queue, head[1])
    end
end

-- The waiter is the first for each of its names, and all are free.  Of the name `free`,
-- both are known.
local function may_have(token, names, free)
    if #names == 1 and names[1] == free then
        return true
    end
    if redis.call('exists', unpack(names)) > 0 then
        return false
    end
    for i = 1, #names do
        if first_alive(names[i]) ~= token then
            return false
        end
    end
    return true
end

-- Advances the logical clock for a grant; nil if the clock is gone.
local function tick()
    local h = tonumber(redis.call('hget', 'redlock:clock', 'h') or '')
    if not h then
        return nil
    end
    local text = string.format('%.0f', h + 1)
    redis.call('hset', 'redlock:clock', 'h', text)
    return text
end

-- Gives a free name to its first waiter, with the other names that it waits for: all or
-- none.  A waiter that cannot be told finds out with its next refresh.
local function hand_over(name)
    local token, left = first_alive(name)
    if not token then
        return
    end
    local waiter = 'redlock:waiter:' .. token
    local names = cmsgpack.unpack(redis.call('get', waiter))
    local channel = table.remove(names, 1)
    local clock = may_have(token, names, name) and tick()
    if not clock then
        return
    end
    for i = 1, #names do
        redis.call('set', names[i], token, 'px', left)
        redis.call('zrem', 'redlock:queue:' .. names[i], token)
    end
    redis.call('del', waiter)
    redis.pcall('publish', channel, token .. ' ' .. clock)
end

-- A user that may not give all of them (an ACL) leaves that to one that may.
local function hand_over_if_free(name)
    if redis.call('exists', name) == 0 then
        pcall(hand_over, name)
    end
end

-- Ends a release: the token leaves the queue of the name, and the next waiter may have it.
local function leave(name, token, is_free)
    if redis.call('zrem', 'redlock:queue:' .. name, token) == 1 then
        redis.call('del', 'redlock:waiter:' .. token)
    end
    if is_free then
        hand_over(name)
    else
        hand_over_if_free(name)
    end
end

-- A release succeeds also for a user that may not see the waiters.
local function pass_on(name, token, is_free)
    pcall(leave, name, token, is_free)
end
