-- Finds the names that are held or waited for among the next keys.
-- KEYS the beginning of the names
-- ARGV cursor, number of keys to look at (about), foreign 0|1.
-- With `foreign` also names whose value may be a lock of other software: a string of at most 256 bytes
-- that expires.
-- Returns {cursor (0: all keys were looked at), number of keys of the master, number of names left out,
-- the names}, each as its length, a colon, its bytes.
-- A name may come more than once.  Names are left out if they are too many or too long for one reply.
local begins = KEYS[1]
-- Names, slots and waiters are strings; an element of a queue is a waiter.
local found = redis.call('scan', ARGV[1], 'count', ARGV[2], 'type', 'string')
local names, told, room, left_out, unread = {}, {}, 130000, 0, 524288

local function tell(name)
    if name == '' or #name > 1024 or told[name] or string.sub(name, 1, #begins) ~= begins or
        string.sub(name, 1, 8) == 'redlock:' then -- that is nobody's name
        return
    end
    told[name] = true
    local text = #name .. ':' .. name
    if #names == 512 or #text > room then
        left_out = left_out + 1
        return
    end
    names[#names + 1], room = text, room - #text
end

-- The name that has this slot, or whose registry it is; any other name as it is.
local function owner_of(name)
    return string.match(name, '^redlock:permit:%d+:(.*)$') or
        string.match(name, '^redlock:permits:(.*)$') or name
end

-- A record is as long as the names in it, so only its first bytes are read.
local function tell_awaited(waiter)
    if unread < 0 then
        left_out = left_out + 1
        return
    end
    local value = redis.call('get', waiter) or ''
    unread = unread - #value
    local known, record = pcall(cmsgpack.unpack, value)
    for i = 2, known and type(record) == 'table' and #record or 0 do
        tell(owner_of(tostring(record[i])))
    end
end

-- Of a token of this library, as in stand.lua.
local function is_token(value)
    return #value <= 95 and (#value == 22 or string.byte(value, 23) == 58) and
        string.find(string.sub(value, 1, 22), '^[A-Za-z0-9_-]+[AQgw]$')
end

-- No more of a long value is read than shows that it is one.
local call, sub, foreign = redis.call, string.sub, ARGV[3] == '1'
local function is_lock(key)
    local value = call('getrange', key, 0, 256)
    return #value >= 22 and is_token(value) or value == 'redlock:shared' or
        foreign and #value <= 256 and call('pttl', key) > 0
end

local keys = found[2]
for i = 1, #keys do
    local key = keys[i]
    if sub(key, 1, 8) ~= 'redlock:' then
        if (begins == '' or sub(key, 1, #begins) == begins) and is_lock(key) then
            tell(key)
        end
    elseif sub(key, 9, 15) == 'permit:' then
        tell(owner_of(key))
    elseif sub(key, 9, 15) == 'waiter:' then
        tell_awaited(key)
    end
end
return {found[1], redis.call('dbsize'), left_out, table.concat(names)}
