-- Enqueues a waiter for the names, or refreshes its place; takes the names, all or none,
-- when its turn has come.
-- KEYS the names, redlock:clock
-- ARGV token, ticket, ms for which the place and the given names last, channel.
-- For shared names also a letter for each name: x exclusive, s shared.
-- Returns one of
--
--     {1, clock}   the waiter has them
--     {2, clock}   it has them, but another waiter is ahead for one of them
--     {0, clock, PTTL, ahead, foreign}
--
--     PTTL      of the first name that another token has (-1: never expires, -2: all are free)
--     ahead     the largest number of waiters ahead of any name
--     foreign   1 if all holders seem to be of other libraries, else 0
local names, clock = #KEYS - 1, KEYS[#KEYS]
local token, ticket, life, modes = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[5]

if names == 1 and not modes then
    -- uses queue_one.lua
end
-- uses handover.lua
-- uses stand.lua
local was_open = false
for i = 1, names do
    was_open = hand_over_if_open(KEYS[i]) or was_open
end
if was_open and all_ours() then
    return {1, logical_clock()}
end
-- This removes the dead ahead, so that they are not counted.  If the waiter itself dies
-- meanwhile, nobody is ahead.
local ahead = 0
for i = 1, names do
    first_alive(KEYS[i])
    ahead = math.max(ahead, redis.call('zrank', queues[i], token) or 0)
end
local left, foreign = held_for()
return {0, logical_clock(), left, ahead, foreign}
