-- release.lua for several leases of one name each, one after the other.
-- KEYS a name for each   ARGV a token for each
-- Returns for each 1 it was ours, 0 it is free, -1 another token has it, an error if
-- the user may not look at it.
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

local said, queues = {}, {}
for i = 1, #KEYS do
    queues[i] = 'redlock:queue:' .. KEYS[i]
end
if redis.pcall('exists', unpack(queues)) ~= 0 then
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
