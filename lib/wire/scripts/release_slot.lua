-- release.lua for a slot.  If its queue is empty, a waiter for another slot of the name hears that this
-- slot is free: the first one.  If more slots are free it is the second and so on, for those before have
-- heard of these.  The message gives no slot.
-- KEYS the slot   ARGV as of release.lua
-- Returns 1 it was ours, 0 it is free, -1 another token has it.
-- uses slots.lua
local value, said = redis.pcall('get', slot), -1
if value == ARGV[1] then
    redis.call('del', slot)
    said = 1
elseif not value then
    said = 0
elseif type(value) == 'table' and string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
    -- As in value.lua, whose function would make every release slower.
    redis.call('get', slot)
end
-- uses mark.lua
if redis.pcall('exists', 'redlock:queue:' .. slot, 'redlock:queue:' .. permits) ~= 0 then
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
    -- A release succeeds also for a user that may not look.
    redis.pcall('zrem', 'redlock:queue:' .. permits, ARGV[1])
    pass_on(slot, ARGV[1], said == 1)
    pcall(give_hint)
end
return said
