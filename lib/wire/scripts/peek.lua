-- Finds the holder of the first name that is held, the time left, and the waiters.
-- KEYS the names   ARGV most tokens of each list (16)
-- Returns nil if all are free, else
--
--     {value (its first 256 bytes), PTTL, number of waiters, tokens of the first ones, one a line}
--
-- A shared name has more behind these: the number of readers, and the tokens of the first ones.
-- One name alone that is free, but with slots that are held or waited for, has
--
--     {'redlock:permits', PTTL of the first slot that is held, number of waiters, their tokens,
--      number of slots that are held, tokens of the first holders, number of slots}
--
-- A waiter in several queues counts once.  The number of slots is the stored or the seen one.
-- uses value.lua
local most = tonumber(ARGV[1] or '16')

local function waiters_of(name)
    local queue, alive = 'redlock:queue:' .. name, {}
    local last = redis.call('zrange', queue, -1, -1)[1]
    local count = last and redis.call('zrank', queue, last) + 1 or 0
    for _, token in ipairs(redis.call('zrange', queue, 0, most - 1)) do
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
    local tokens = redis.call('zrange', holders, past, '+inf', 'byscore', 'limit', 0, most)
    for i = 1, #tokens do
        tokens[i] = string.sub(tokens[i], 1, 100)
    end
    return redis.call('zcount', holders, past, '+inf'), table.concat(tokens, '\n')
end

local function shown(value, name)
    if type(value) == 'table' then
        value = '(a ' .. redis.call('type', name).ok .. ', not a lock)'
    end
    return string.sub(value, 1, 256)
end

-- uses waiters.lua

-- Of more than 600 places only these are looked at, and the others are counted as they are.
local function who_wait_for_a_slot(permits)
    local alive, count = {}, 0
    local looked_at = each_waiter(permits, 600, function(token)
        count = count + 1
        alive[#alive + 1] = count <= most and string.sub(token, 1, 100) or nil
    end)
    local further = redis.call('zcount', 'redlock:queue:' .. permits, '-inf', '+inf') - looked_at
    return count + further, table.concat(alive, '\n')
end

-- A name without a number of slots has none, and costs one look; any other as many as are in use.
-- All slots are looked at of which somebody else has made the number unreadable.
local function permits_of(name)
    local permits, slots = 'redlock:permits:' .. name, {}
    local stored = redis.pcall('get', permits)
    if not stored then
        return nil
    end
    local slots_most = math.min(1024, math.floor(262144 / #name)) -- as in slots.lua
    local count = type(stored) == 'string' and math.min(tonumber(stored) or 0, slots_most) or 0
    local known = count > 0 and count or slots_most
    for j = 1, known do
        slots[j] = 'redlock:permit:' .. (j - 1) .. ':' .. name
    end
    local held, left, holders, values = 0, -2, {}, redis.call('mget', unpack(slots))
    for j = 1, known do
        local value = values[j]
        if value then
            held, count = held + 1, math.max(count, j)
            left = held == 1 and redis.call('pttl', slots[j]) or left
            holders[#holders + 1] = held <= most and string.sub(shown(value, slots[j]), 1, 100) or nil
        end
    end
    local may, waiting, tokens = pcall(who_wait_for_a_slot, permits)
    waiting, tokens = may and waiting or 0, may and tokens or ''
    if count > 0 and held + waiting > 0 then
        return {'redlock:permits', left, waiting, tokens, held, table.concat(holders, '\n'), count}
    end
end

for i = 1, #KEYS do
    local value = value_of(KEYS[i])
    if value then
        -- A user that may not look at the queue (an ACL) gets the holder all the same.
        local may, count, tokens = pcall(waiters_of, KEYS[i])
        local told = {shown(value, KEYS[i]), redis.call('pttl', KEYS[i]),
            may and count or 0, may and tokens or ''}
        if value == 'redlock:shared' then
            local found, readers, their = pcall(readers_of, KEYS[i])
            told[5], told[6] = found and readers or 0, found and their or ''
        end
        return told
    end
end
-- A look at several names asks for holders that exclude a lease on them; permits do not.
return #KEYS == 1 and permits_of(KEYS[1])
