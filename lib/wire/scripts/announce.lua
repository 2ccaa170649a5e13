-- Says something of a name that holds the token, and tells the observers if that is a change.
-- KEYS the name   ARGV token, ttl ms, term, number, value
-- Returns 1 it is said, 0 the name does not hold the token, -1 something later is said.
-- uses said.lua
if value_of(name) ~= ARGV[1] then
    return 0
end
local was, _, term, number = said()
local our_term, our_number = tonumber(ARGV[3]), tonumber(ARGV[4])
if was and (term > our_term or term == our_term and number > our_number) then
    return -1
end
local record = table.concat({ARGV[3], ARGV[4], ARGV[1], ARGV[5]}, ' ')
redis.call('set', leader, record, 'px', ARGV[2])
if record ~= was then
    tell(ARGV[2], record)
end
return 1
