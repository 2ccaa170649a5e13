-- release.lua for several leases of one name each.
-- KEYS a name for each   ARGV a token for each
-- Returns for each 1 it was ours, 0 nobody has it, -1 somebody else has it.
local said = {}
for i = 1, #KEYS do
    local value = redis.pcall('get', KEYS[i])
    if value == ARGV[i] then
        redis.call('del', KEYS[i])
        said[i] = 1
    else
        said[i] = value and -1 or 0
    end
end
return said
