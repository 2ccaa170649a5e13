-- Looks for another slot on the ring of all `count`.  The build puts this where a script says that
-- it uses it.
-- uses handover.lua
local function slot_at(steps)
    return (which + steps) % count
end

local function key_of(j)
    return 'redlock:permit:' .. j .. ':' .. name
end

-- The next of the `steps` slots behind this one that is free, with nobody in its queue; -1: none.
local function find_free(steps)
    local keys = {}
    for i = 1, steps do
        keys[i] = key_of(slot_at(i))
    end
    for from = 1, steps, 32 do
        local to = math.min(from + 31, steps)
        local held = redis.call('exists', unpack(keys, from, to))
        for i = from, held <= to - from and to or 0 do
            if redis.call('exists', keys[i]) == 0 and not first_alive(keys[i]) then
                return slot_at(i)
            end
        end
    end
    return -1
end
