-- queue.lua for a slot.  A new place gets no free slot while at least as many older waiters wait for
-- other slots as there are free slots.  A refresh gets one, for those waiters may be dead.
-- KEYS the slot, redlock:clock
-- ARGV token, ticket, ms for which the place and the given slot last, channel, the number of slots.
-- Returns one of
--
--     {1, clock}   the waiter has it
--     {2, clock}   it has it, but another waiter is ahead
--     {0, clock, PTTL, ahead, foreign, free, younger}   the first five as queue.lua
--
--     free      the next free slot with an empty queue; -1 unless the waiter is the first
--     younger   the slot whose first waiter came last of all, and later than this one; likewise
local names, clock = 1, KEYS[2]
local token, ticket, life, modes = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), nil
-- uses slots.lua
-- uses most_slots.lua
turn_to(KEYS[1])
learn(ARGV[5], life)
local count = tonumber(ARGV[5])
-- uses other_slots.lua
-- uses registry.lua
local was_there = redis.call('zscore', 'redlock:queue:' .. slot, token) and
    redis.call('exists', 'redlock:waiter:' .. token) == 1

-- uses stand.lua
local registry = 'redlock:queue:' .. permits
redis.call('zadd', registry, ARGV[2], token)
prolong(registry, 2 * life)

-- That would pass somebody older, for whom no other slot is left.
local function passes()
    first_alive(permits) -- this removes the dead ahead
    local free = free_slots(count)
    local _, older = waiter_at(free, ticket)
    return older >= free
end

if (was_there or not passes()) and hand_over_if_open(slot) and all_ours() then
    return {1, logical_clock()}
end

-- Of more than 64 slots, others at another time.
local function find_younger(from)
    local younger, last = -1, ticket
    for i = 0, math.min(count, 64) - 1 do
        local j = slot_at(from + i)
        local _, _, its = first_alive(key_of(j))
        if its and its > last then
            younger, last = j, its
        end
    end
    return younger
end

h = logical_clock()
first_alive(slot) -- this removes the dead ahead
local ahead = redis.call('zrank', queues[1], token) or 0
local left, foreign = held_for()
local free, younger = -1, -1
if ahead == 0 then
    free = find_free(count - 1)
    younger = find_younger(count > 64 and math.fmod(h, count) or 0)
end
return {0, h, left, ahead, foreign, free, younger}
