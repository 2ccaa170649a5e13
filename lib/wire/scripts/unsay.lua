-- Takes back what the token has said of a name in this term, and tells the observers.
-- KEYS the name   ARGV token, term
-- Returns 1 it was said, 0 it was not, or is said no more.
-- uses said.lua
local was, _, term, _, token = said()
if not was or token ~= ARGV[1] or term ~= tonumber(ARGV[2]) then
    return 0
end
redis.call('del', leader)
tell('0', '')
return 1
