-- release.lua for several leases of one name each, one after the other.
-- KEYS a name for each   ARGV a token for each
-- Returns for each 1 it was ours, 0 it is free, -1 another token has it, an error if
-- the user may not look at it.
local said, queues, gone, are_ours, is_read = {}, {}, KEYS, true, false
local values = redis.pcall('mget', unpack(KEYS)) -- a user that may not is served one by one
for i = 1, #KEYS do
    queues[i] = 'redlock:queue:' .. KEYS[i]
    if values[i] ~= ARGV[i] then
        is_read = values[i] == 'redlock:shared'
        are_ours = are_ours and is_read
    end
end
local is_waited_for = redis.pcall('exists', unpack(queues)) ~= 0

-- Mostly each name holds its token, or its only reader leaves, and nobody waits: no function is made, for
-- that is costly.
if is_read and are_ours and not is_waited_for then
    -- uses only_readers.lua
end
if are_ours and not is_waited_for then
    -- uses delete_each.lua
    return said
end

-- uses take_back.lua
-- Returns also whether the name is free now.
local function release(name, token)
    local value = redis.pcall('get', name)
    if value == token then
        redis.call('del', name)
        return 1, true
    end
    if value == 'redlock:shared' then
        local was_ours, is_free = take_back(name, token)
        return type(was_ours) == 'table' and was_ours or was_ours and 1 or -1, is_free
    end
    if type(value) == 'table' and string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
        return value
    end
    return value and -1 or 0
end

if is_waited_for then
    -- uses leave.lua
    for i = 1, #KEYS do
        local is_free
        said[i], is_free = release(KEYS[i], ARGV[i])
        pass_on(KEYS[i], ARGV[i], is_free)
    end
else
    for i = 1, #KEYS do
        said[i] = release(KEYS[i], ARGV[i])
    end
end
return said
