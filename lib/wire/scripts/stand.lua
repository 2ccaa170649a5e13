-- How a waiter comes to its place, or keeps it; a script ends if it has the names.  The build puts this
-- where a script says that it uses it.
-- uses clock.lua

local function prolong(key, ms)
    if redis.call('pttl', key) < ms then
        redis.call('pexpire', key, ms)
    end
end

local function is_ours(i, value)
    return value == token or modes and value == MARK and string.sub(modes, i, i) == 's' and
        readers().has(KEYS[i], token)
end

local function all_ours()
    for i = 1, names do
        if not is_ours(i, value_of(KEYS[i])) then
            return false
        end
    end
    return true
end

-- Compares bytes, as the sorted set does: the order of < depends on the locale.
local function is_less(a, b)
    for i = 1, math.min(#a, #b) do
        if a:byte(i) ~= b:byte(i) then
            return a:byte(i) < b:byte(i)
        end
    end
    return #a < #b
end

local function somebody_is_ahead()
    for i = 1, names do
        local first, _, its = first_alive(KEYS[i])
        if first and (its < ticket or its == ticket and is_less(first, token)) then
            return true
        end
    end
    return false
end

-- uses foreign.lua

-- A holder of this library that has any of the names hands over, and may want to heal.
local function held_for()
    local first_left, foreign
    for i = 1, names do
        local left, value = redis.call('pttl', KEYS[i]), value_of(KEYS[i])
        if left ~= -2 and not is_ours(i, value) then
            first_left = first_left or left
            foreign = math.min(foreign or 1, is_foreign(value))
        end
    end
    return first_left or -2, foreign or 0
end

if all_ours() then
    for i = 1, names do
        if modes and value_of(KEYS[i]) == MARK then
            readers().prolong(KEYS[i], token, life)
        else
            prolong(KEYS[i], life)
        end
    end
    return {somebody_is_ahead() and 2 or 1, h}
end

if ticket > h then
    redis.call('hset', clock, 'h', string.format('%.0f', ticket))
end
local queues = {}
for i = 1, names do
    queues[i] = 'redlock:queue:' .. KEYS[i]
    redis.call('zadd', queues[i], ARGV[2], token)
    prolong(queues[i], 2 * life)
end
redis.call('set', 'redlock:waiter:' .. token,
    cmsgpack.pack({modes and {ARGV[4], modes} or ARGV[4], unpack(KEYS, 1, names)}), 'px', ARGV[3])
