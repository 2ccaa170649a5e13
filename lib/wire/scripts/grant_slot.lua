-- grant.lua for slots, of one lease each, one after the other.  A lease passes no waiter for any slot of
-- the name.
-- KEYS a slot for each, redlock:clock
-- ARGV window us (see there), and for each: token, ttl ms, proposal us (0: without a fence), its slots.
-- Returns for each the clock if it was granted with a fence, 0 if without one.
-- It is an error if it could not be granted.
-- It is "clock line" or "clock line free" if the slot is held or has a waiter:
--   slots the number of slots of the name
--   line  the slot with the shortest queue, the next one of several from this one on
--   free  the next free slot with an empty queue, if nobody waits for any slot
local leases, clock = #KEYS - 1, KEYS[#KEYS]
local said, queues, permits_of, try = {}, {}, {}, redis.pcall
for i = 1, leases do
    permits_of[i] = 'redlock:permits:' .. string.match(KEYS[i], ':(.*)', 16)
    queues[i] = 'redlock:queue:' .. permits_of[i]
end

-- The logical clock, and the most that a proposal may be, for leases with a fence.
local h, was, most
local first, lasts, twice = 1, nil, nil

-- Mostly nobody waits, the slot is free, and the number of slots is that of the client: no function is made,
-- for that is costly.  The first lease of which this is not so ends it.
if redis.call('exists', unpack(queues)) == 0 then
    local known = try('mget', unpack(permits_of))
    for i = 1, leases do
        local a = 4 * i
        local token, ttl, proposal, slots = ARGV[a - 2], ARGV[a - 1], ARGV[a], ARGV[a + 1]
        local fenced = proposal ~= '0'
        if fenced and not h then
            local time = redis.call('time')
            most = time[1] * 1000000 + time[2] + ARGV[1]
            was = tonumber(try('hget', clock, 'h') or '') or 0
            h = was
        end
        if ttl ~= lasts then
            lasts, twice = ttl, string.format('%.0f', 2 * ttl)
        end
        local is_known = known[i] == slots -- stored as in most_slots.lua
        if not known[i] then
            is_known = try('set', permits_of[i], slots, 'nx', 'px', twice)
        elseif is_known and (tonumber(try('pttl', permits_of[i])) or -2) < 1.5 * ttl then
            try('set', permits_of[i], slots, 'px', twice)
        end
        local set = is_known and not (fenced and h <= 0) and try('set', KEYS[i], token, 'nx', 'px', ttl)
        if not set or set.err then
            break
        end
        h = fenced and math.max(h + 1, math.min(tonumber(proposal), most)) or h
        said[i] = fenced and h or 0
        first = i + 1
    end

    -- The clock is stored once for all.  A user that may not write it (an ACL) gets no slot for it.
    local stored = h ~= was and try('hset', clock, 'h', string.format('%.0f', h))
    for i = 1, type(stored) == 'table' and first - 1 or 0 do
        if said[i] ~= 0 then
            try('del', KEYS[i])
            said[i] = stored
        end
    end
    if first > leases then
        return said
    end
end

-- uses slots.lua
-- uses most_slots.lua
local count
-- uses other_slots.lua

-- Of 64 slots at the most.
local function find_line()
    local line, least = nil, nil
    for i = 0, math.min(count, 64) - 1 do
        local key = key_of(slot_at(i))
        local length = first_alive(key) and redis.call('zcount', 'redlock:queue:' .. key, '-inf', '+inf') or 0
        if not least or length < least then
            line, least = slot_at(i), length
        end
    end
    return line
end

local function move_on(to)
    redis.call('hset', clock, 'h', string.format('%.0f', to))
    return to
end

local function serve(i)
    local a = 4 * i
    local token, ttl, proposal = ARGV[a - 2], ARGV[a - 1], tonumber(ARGV[a])
    turn_to(KEYS[i])
    learn(ARGV[a + 1], tonumber(ttl))
    count = tonumber(ARGV[a + 1])
    local waits = redis.call('exists', queues[i]) > 0
    if not waits and proposal == 0 and redis.call('set', slot, token, 'nx', 'px', ttl) then
        return 0
    end
    if waits then
        hand_over_if_open(slot)
    end
    local h = tonumber(redis.call('hget', clock, 'h') or '')
    if not h then
        return redis.error_reply('NOCLOCK redlock:clock is gone')
    end
    local somebody_waits = waits and first_alive(permits)
    if somebody_waits or redis.call('exists', slot) > 0 then
        local to = move_on(h + 1)
        local free = somebody_waits and -1 or find_free(count - 1)
        return string.format(free < 0 and '%.0f %d' or '%.0f %d %d', to, find_line(), free)
    end
    if proposal ~= 0 then
        if not most then
            local time = redis.call('time')
            most = time[1] * 1000000 + time[2] + ARGV[1]
        end
        h = move_on(math.max(h + 1, math.min(proposal, most)))
    end
    redis.call('set', slot, token, 'px', ttl)
    return proposal ~= 0 and h or 0
end

-- uses one_by_one.lua
