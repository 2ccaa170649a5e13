-- uses handover.lua
-- Stands in line for the names, or goes on standing there; takes them, all or none,
-- when its turn has come.
-- KEYS the names, redlock:clock
-- ARGV token, ticket, ms that it stands there and has what it is given, channel
-- Returns {1, clock} it has them, {2, clock} it has them, but somebody who is ahead
-- of it waits for one; {0, clock, PTTL of the first name that somebody else has (-1:
-- never expires, -2: all are free), how many are ahead of it in line: the most of any name}.
local names, clock = #KEYS - 1, KEYS[#KEYS]
local token, ticket, life = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local function logical_clock()
    return tonumber(redis.call('hget', clock, 'h') or '')
end

local h = logical_clock()
if not h then
    return redis.error_reply('NOCLOCK redlock:clock is gone')
end

local function prolong(key, ms)
    if redis.call('pttl', key) < ms then
        redis.call('pexpire', key, ms)
    end
end

local function is_ours(name)
    return redis.pcall('get', name) == token
end

local function all_ours()
    for i = 1, names do
        if not is_ours(KEYS[i]) then
            return false
        end
    end
    return true
end

-- By bytes, as the sorted set does: the order of < depends on the locale.
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

local function held_for()
    for i = 1, names do
        local left = redis.call('pttl', KEYS[i])
        if left ~= -2 and not is_ours(KEYS[i]) then
            return left
        end
    end
    return -2
end

if all_ours() then
    for i = 1, names do
        prolong(KEYS[i], life)
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
    cmsgpack.pack({ARGV[4], unpack(KEYS, 1, names)}), 'px', ARGV[3])
for i = 1, names do
    hand_over_if_free(KEYS[i])
end
if all_ours() then
    return {1, logical_clock()}
end
-- So that the dead ahead are not counted.  If it dies itself meanwhile, nobody is ahead.
local ahead = 0
for i = 1, names do
    first_alive(KEYS[i])
    ahead = math.max(ahead, redis.call('zrank', queues[i], token) or 0)
end
return {0, logical_clock(), held_for(), ahead}
