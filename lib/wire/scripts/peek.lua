-- Tells the holder of the first name that is held, the time left, and the waiters.
-- KEYS the names
-- Returns {value (its first 256 bytes), PTTL, the number of waiters, the tokens of the first
-- ones (16 at the most), one a line}, or nil if all are free.  Of a name that is shared, behind
-- these, the number of readers, and the tokens of the first ones likewise.
-- uses value.lua
local function waiters_of(name)
    local queue, alive = 'redlock:queue:' .. name, {}
    local last = redis.call('zrange', queue, -1, -1)[1]
    local count = last and redis.call('zrank', queue, last) + 1 or 0
    for _, token in ipairs(redis.call('zrange', queue, 0, 15)) do
        if redis.call('exists', 'redlock:waiter:' .. token) == 1 then
            alive[#alive + 1] = string.sub(token, 1, 100)
        else
            count = count - 1
        end
    end
    return count, table.concat(alive, '\n')
end

local function readers_of(name)
    local time, holders = redis.call('time'), 'redlock:holders:' .. name
    local past = string.format('(%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
    local tokens = redis.call('zrange', holders, past, '+inf', 'byscore', 'limit', 0, 16)
    for i = 1, #tokens do
        tokens[i] = string.sub(tokens[i], 1, 100)
    end
    return redis.call('zcount', holders, past, '+inf'), table.concat(tokens, '\n')
end

for i = 1, #KEYS do
    local value = value_of(KEYS[i])
    if value then
        if type(value) == 'table' then
            value = '(a ' .. redis.call('type', KEYS[i]).ok .. ', not a lock)'
        end
        -- A user that may not look at the queue (an ACL) is told the holder all the same.
        local may, count, tokens = pcall(waiters_of, KEYS[i])
        local told = {string.sub(value, 1, 256), redis.call('pttl', KEYS[i]),
            may and count or 0, may and tokens or ''}
        if value == 'redlock:shared' then
            local found, readers, shown = pcall(readers_of, KEYS[i])
            told[5], told[6] = found and readers or 0, found and shown or ''
        end
        return told
    end
end
return false
