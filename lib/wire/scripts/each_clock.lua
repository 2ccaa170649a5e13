-- The logical clock, `h`, which each grant moves on, and the queues of the names.  The build puts this
-- where a script says that it uses it.
local function logical_clock()
    return tonumber(redis.call('hget', clock, 'h') or '')
end

local h = logical_clock()

local function move_on(to)
    h = to
    redis.call('hset', clock, 'h', string.format('%.0f', h))
    return h
end

local queues = {}
for i = 1, count do
    queues[i] = 'redlock:queue:' .. KEYS[i]
end
