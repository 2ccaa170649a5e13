-- Releases: deletes each name that still holds the token, or takes the token out of the name's readers,
-- and out of the queues.  A free name goes to its next waiter.
-- KEYS the names
-- ARGV token, and if it came from another process: ms for which a renewal of that process may be under way
-- and must not heal.
-- Returns 1 all were ours, 0 the others are free, -1 another token has one.
local value = redis.pcall('get', KEYS[1])
if #KEYS == 1 and value == ARGV[1] and not ARGV[2] then
    -- uses release_one.lua
end
local ours, absent, queues, is_free, denied = 0, 0, {}, false, nil
for i = 1, #KEYS do
    if i > 1 then
        value = redis.pcall('get', KEYS[i])
    end
    if value == ARGV[1] then
        redis.call('del', KEYS[i])
        ours, is_free = ours + 1, true
    elseif not value then
        absent = absent + 1
    elseif value == 'redlock:shared' then
        -- uses take_back.lua
        local was_ours
        was_ours, is_free = take_back(KEYS[i], ARGV[1])
        if type(was_ours) == 'table' then
            denied = KEYS[i]
        elseif was_ours then
            ours = ours + 1
        end
    elseif type(value) == 'table' and string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
        -- As in value.lua, whose function would make every release slower.
        redis.call('get', KEYS[i])
    end
    queues[i] = 'redlock:queue:' .. KEYS[i]
end
-- uses mark.lua
if ARGV[2] and ours > 0 and #KEYS == 1 then
    -- uses taken.lua
end
if redis.pcall('exists', unpack(queues)) ~= 0 then
    -- uses leave.lua
    for i = 1, #KEYS do
        pass_on(KEYS[i], ARGV[1], #KEYS == 1 and is_free)
    end
end
if denied then
    redis.call('zscore', 'redlock:holders:' .. denied, ARGV[1])
    redis.call('zrem', 'redlock:holders:' .. denied, ARGV[1])
end
if ours == #KEYS then
    return 1
end
return ours + absent == #KEYS and 0 or -1
