-- renew.lua for a slot.  A look at the permits of the name finds the slot while it is held.
-- KEYS the slot   ARGV token, ttl ms, heal 0|1, not after (us of TIME; 0: no limit)
-- Returns 1 renewed, 2 healed, 0 absent, -1 another token has it, {'late', TIME} past the limit.
-- uses late.lua
-- uses slots.lua
local value, ttl = redis.pcall('get', slot), tonumber(ARGV[2])
if type(value) == 'table' and string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
    -- As in value.lua, whose function would make every renewal slower.
    redis.call('get', slot)
end
if value ~= ARGV[1] and (value or ARGV[3] ~= '1' or
        redis.pcall('exists', 'redlock:released:' .. ARGV[1]) == 1) then
    return value and -1 or 0
end
if not value then
    redis.call('set', slot, ARGV[1], 'px', ARGV[2])
elseif redis.call('pttl', slot) < ttl then
    redis.call('pexpire', slot, ARGV[2])
end
-- As in most_slots.lua, above this slot.
local most = redis.pcall('get', permits)
local left = most and tonumber(redis.pcall('pttl', permits)) or -2
if type(most) == 'string' and (tonumber(most) or 0) > tonumber(which) then
    if left < 1.5 * ttl then
        redis.pcall('pexpire', permits, string.format('%.0f', 2 * ttl))
    end
elseif type(most) ~= 'table' then
    -- This slot, or another one, may be held for longer than `ttl`.
    local kept = math.max(2 * redis.call('pttl', slot), left)
    redis.pcall('set', permits, which + 1, 'px', string.format('%.0f', kept))
end
return value and 1 or 2
