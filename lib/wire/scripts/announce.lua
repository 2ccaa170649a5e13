-- Says something of a name, in place of what was said before.
-- KEYS the name   ARGV token, ttl ms, term, number within the term, value
-- Returns 1 it is said, 0 the name does not hold the token, -1 something later is said.
-- uses value.lua
-- uses said.lua
if value_of(KEYS[1]) ~= ARGV[1] then
    return 0
end
local stored, term, number = record_of(KEYS[1])
local new_term, new_number = tonumber(ARGV[3]), tonumber(ARGV[4])
if stored and (term > new_term or (term == new_term and number > new_number)) then
    return -1
end
local record = ARGV[3] .. ' ' .. ARGV[4] .. ' ' .. ARGV[1] .. ' ' .. ARGV[5]
redis.call('set', 'redlock:leader:' .. KEYS[1], record, 'px', ARGV[2])
if record ~= stored then
    tell_observers(KEYS[1], ARGV[2], record)
end
return 1
