-- The waiters of a name, and how it is given to the next one.  The build puts this where a
-- script says that it uses it.
--   redlock:queue:<name>    sorted set of tokens by ticket: the same order on all masters
--   redlock:waiter:<token>  cmsgpack {channel, name, name...}, or {{channel, modes}, name...}
--                           if it is to share a name; expires when the waiter is dead.  What
--                           the waiter is given lasts for as long as that.
-- These are not in KEYS: they follow from the names, and a master is no cluster.
-- uses holders.lua

-- Bounds on the names that a script gives to waiters (or little more), and on the dead waiters that it
-- removes: no script takes long.  The next script that looks at the queue goes on, as each refresh of
-- a waiter does.
local names_left, dead_left = 64, 256

-- The first live waiter of the name, the ms that it has left, and its ticket.  The dead
-- ahead of it are removed; one that is left over, for which no ms are left, stands for a waiter.
-- Returns nil if the key is no queue.  A user that may not look
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
        if left > 0 or dead_left == 0 then
            return head[1], left, tonumber(head[2])
        end
        dead_left = dead_left - 1
        redis.call('zrem', queue, head[1])
    end
end

-- The waiter is the first for each of its names, and all are open to it.  Of the name `open`,
-- both are known.
local function may_have(token, names, modes, open)
    if #names == 1 and names[1] == open then
        return true
    end
    if not modes and redis.call('exists', unpack(names)) > 0 then
        return false
    end
    for i = 1, #names do
        if first_alive(names[i]) ~= token or
            modes and not readers().is_open(names[i], string.sub(modes, i, i)) then
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

-- Gives a free or marked name to its first waiter, with the other names that it waits for: all or
-- none.  While the name is shared it goes on to the next waiters.  A waiter that hears nothing finds
-- out with its next refresh.
local function hand_over(name, is_marked)
    local token, left = first_alive(name)
    if not token or left <= 0 or names_left <= 0 then
        return
    end
    local waiter = 'redlock:waiter:' .. token
    local names, modes, shared = cmsgpack.unpack(redis.call('get', waiter)), nil, false
    local channel = table.remove(names, 1)
    names_left = names_left - #names
    if type(channel) == 'table' then
        channel, modes = channel[1], channel[2]
        for i = 1, #names do
            shared = shared or names[i] == name and string.sub(modes, i, i) == 's'
        end
    end
    local may = (shared or not is_marked) and may_have(token, names, modes, name)
    local clock = may and tick()
    if not clock then
        return
    end
    if modes then -- these come first, for they may be forbidden where a SET is not
        for i = 1, #names do
            if string.sub(modes, i, i) == 's' then
                readers().share(names[i], token, left)
            end
        end
    end
    for i = 1, #names do
        if not modes or string.sub(modes, i, i) == 'x' then
            redis.call('set', names[i], token, 'px', left)
        end
        redis.call('zrem', 'redlock:queue:' .. names[i], token)
    end
    redis.call('del', waiter)
    redis.pcall('publish', channel, token .. ' ' .. clock)
    if shared then
        return hand_over(name, true)
    end
end

-- A user that may not give all of them (an ACL) leaves that to one that may.  Returns false if
-- nobody can have been given the name.
local function hand_over_if_open(name)
    local value = redis.pcall('get', name)
    local was_open = not value or value == MARK
    if was_open then
        pcall(hand_over, name, value == MARK)
    end
    return was_open
end
