-- How a waiter for one name, exclusively, comes to its place or keeps it while another token has the name;
-- the script ends then.  The build puts this where queue.lua says that it uses it, before any function is
-- made, for that is costly.
local call, name = redis.call, KEYS[1]
local value = redis.pcall('get', name)
if type(value) == 'string' and value ~= token and value ~= 'redlock:shared' then
    -- uses clock_once.lua
    local queue, life_of_queue = 'redlock:queue:' .. name, 2 * life
    if ticket > h then
        h = ticket
        call('hset', clock, 'h', string.format('%.0f', h))
    end
    call('zadd', queue, ARGV[2], token)
    if not (redis.REDIS_VERSION_NUM and call('pexpire', queue, life_of_queue, 'gt') == 1) and
        call('pttl', queue) < life_of_queue then
        call('pexpire', queue, life_of_queue)
    end
    call('set', 'redlock:waiter:' .. token, cmsgpack.pack({ARGV[4], name}), 'px', ARGV[3])
    -- Removes dead waiters ahead, so that they do not count: up to the number in handover.lua.
    local dead_left, ahead, first = 256, 0, call('zrange', queue, 0, 0)[1]
    while first and first ~= token do
        if dead_left == 0 or call('pttl', 'redlock:waiter:' .. first) > 0 then
            ahead, first = call('zrank', queue, token) or 0, nil
        else
            dead_left = dead_left - 1
            call('zrem', queue, first)
            first = call('zrange', queue, 0, 0)[1]
        end
    end
    -- uses foreign.lua
    local left = call('pttl', name)
    return {0, h, left, ahead, left ~= -2 and is_foreign(value) or 0}
end
