-- grant.lua for a slot.  It passes no waiter for any slot of the name.
-- KEYS the slot, redlock:clock
-- ARGV token, ttl ms, proposal us, window us (see there), the number of slots of the name.
-- Returns {1, clock} taken, 1 taken without a fence, {-1, clock, free, line} it is held, or has a
-- waiter.
--   free  the next free slot with an empty queue, if nobody waits for any slot; else -1
--   line  the slot with the shortest queue, the next one of several from this one on
local clock = KEYS[2]
local fenced = ARGV[3] ~= '0'
-- uses slots.lua
local lasts = tonumber(ARGV[2])
-- uses most_slots.lua
local is_open = redis.call('exists', 'redlock:queue:' .. slot, 'redlock:queue:' .. permits) == 0

if is_open and not fenced and redis.call('set', slot, ARGV[1], 'nx', 'px', ARGV[2]) then
    return 1
end

-- uses clock.lua
-- uses move_on.lua

if not is_open or redis.call('exists', slot) > 0 then
    -- uses other_slots.lua
    -- Of 64 slots at the most.
    local function find_line()
        local line, least = nil, nil
        for i = 0, math.min(count, 64) - 1 do
            local key = key_of(slot_at(i))
            local length = first_alive(key) and redis.call('zcard', 'redlock:queue:' .. key) or 0
            if not least or length < least then
                line, least = slot_at(i), length
            end
        end
        return line
    end

    hand_over_if_open(slot)
    h = logical_clock()
    local somebody_waits = first_alive(permits)
    if somebody_waits or first_alive(slot) or redis.call('exists', slot) > 0 then
        return {-1, move_on(h + 1), somebody_waits and -1 or find_free(count - 1), find_line()}
    end
end
if fenced then
    local proposal = tonumber(ARGV[3])
    -- uses proposed.lua
end
redis.call('set', slot, ARGV[1], 'px', ARGV[2])
return fenced and {1, h} or 1
