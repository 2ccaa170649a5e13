-- Takes back what the token has said of a name in this term.
-- KEYS the name   ARGV token, term
-- Returns 1 it was said, 0 it was not, or is not any more.
-- uses said.lua
local stored, term, number, token = record_of(KEYS[1])
if not stored or token ~= ARGV[1] or term ~= tonumber(ARGV[2]) then
    return 0
end
redis.call('del', 'redlock:leader:' .. KEYS[1])
tell_observers(KEYS[1], 0, '')
return 1
