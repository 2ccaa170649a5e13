-- release.lua for slots, of one lease each, one after the other.  If the queue of a slot is empty, a waiter
-- for another slot of the name hears that this slot is free: the first one.  If more slots are free it is
-- the second and so on, for those before have heard of these.  The message gives no slot.
-- KEYS a slot for each   ARGV a token for each; of a lone one, then what release.lua has behind it
-- Returns for each 1 it was ours, 0 it is free, -1 another token has it, an error if the user may not look
-- at it.
local leases, first, said, queues, gone, is_plain = #KEYS, 1, {}, {}, KEYS, #ARGV == #KEYS
local values = redis.pcall('mget', unpack(KEYS)) -- a user that may not is served one by one
for i = 1, leases do
    queues[i] = 'redlock:queue:redlock:permits:' .. string.match(KEYS[i], ':(.*)', 16)
    is_plain = is_plain and values[i] == ARGV[i]
end

-- Mostly each slot holds its token and nobody waits: no function is made, for that is costly.
if is_plain and redis.pcall('exists', unpack(queues)) == 0 then
    -- uses delete_each.lua
    return said
end

-- uses slots.lua
-- uses leave.lua
-- uses registry.lua
local function give_hint()
    if redis.call('exists', slot) > 0 or first_alive(slot) then
        return
    end
    local token = first_alive(permits) and waiter_at(free_slots(known_slots()))
    if token then
        local waiter = cmsgpack.unpack(redis.call('get', 'redlock:waiter:' .. token))
        redis.call('publish', waiter[1], token .. ' slot ' .. which)
    end
end

local function serve(i)
    turn_to(KEYS[i])
    local value, outcome = redis.pcall('get', slot), -1
    if value == ARGV[i] then
        redis.call('del', slot)
        outcome = 1
    elseif not value then
        outcome = 0
    elseif type(value) == 'table' and string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
        redis.call('get', slot) -- as in value.lua
    end
    if leases == 1 then
        -- uses mark.lua
    end
    if redis.pcall('exists', queues[i]) ~= 0 then
        -- A release succeeds also for a user that may not look.
        redis.pcall('zrem', 'redlock:queue:' .. permits, ARGV[i])
        pass_on(slot, ARGV[i], outcome == 1)
        pcall(give_hint)
    end
    return outcome
end

-- uses one_by_one.lua
