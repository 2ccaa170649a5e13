-- Counts a party at a barrier no more, unless that is open.
-- KEYS the name   ARGV token, generation, parties
-- Returns one of
--
--     {state, parties, number counted, tokens of all if it is open}
--        state: 0 it is not counted, 1 open, 2 passed, -1 others wait for another number of parties
--     {3, parties of the latest generation that was passed, number counted here, that generation}
--        if no more is known of this one
--
-- uses barrier.lua
local open, passed = facts()
local latest, of_latest = later()
if latest and not open and not passed then
    return over(latest, of_latest)
end
if not open then
    redis.call('zrem', barrier, 't:' .. token)
    if not passed and counted() == 0 then
        redis.call('del', barrier)
    end
elseif not passed and not redis.call('zscore', barrier, 't:' .. token) then
    return {0, parties, counted(), ''}
end
return stand()
