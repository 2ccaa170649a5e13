-- Takes a latch away where nobody has arrived at it.
-- KEYS the name   ARGV id, ms for which it must have been here
-- Returns 1 it was here, 0 it was not, or it stays.
-- uses latch.lua
local is = facts()
if is.id ~= ARGV[1] or is.open or counted() > 0 or age(is) < tonumber(ARGV[2]) then
    return 0
end
redis.call('del', latch)
return 1
