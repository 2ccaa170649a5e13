-- renew.lua for slots, of one lease each.  A look at the permits of the name finds a slot while it is held.
-- KEYS a slot for each
-- ARGV for each: token, ttl ms, heal 0|1, not after (us of TIME; 0: no limit).
-- Returns for each 1 renewed, 2 healed, 0 absent, -1 another token has it, a string (TIME) past the
-- limit.  It is an error if the user may not look at it or set it again.
local leases, first, said, try = #KEYS, 1, {}, redis.pcall
local time = redis.call('time')
local now = time[1] * 1000000 + time[2]
local numbers, permits_of = {}, {}
for i = 1, leases do
    local number, its = string.match(KEYS[i], ':(%d+):(.*)', 15)
    numbers[i], permits_of[i] = tonumber(number), 'redlock:permits:' .. its
end

-- Mostly each slot holds its token, and the number of slots is above it: no function is made.
-- The first of which this is not so ends it, as does a server before Redis 7.0, which cannot prolong and
-- never shorten in one command.
local values = redis.REDIS_VERSION_NUM and try('mget', unpack(KEYS)) or {}
local known = try('mget', unpack(permits_of))
for i = 1, leases do
    local a = 4 * i
    local ttl, not_after = ARGV[a - 2], ARGV[a]
    if values[i] ~= ARGV[a - 3] or not_after ~= '0' and now > tonumber(not_after) or
        (tonumber(known[i] or '') or 0) <= numbers[i] or try('pexpire', KEYS[i], ttl, 'gt') ~= 1 then
        break
    end
    if (tonumber(try('pttl', permits_of[i])) or -2) < 1.5 * ttl then -- as in most_slots.lua
        try('pexpire', permits_of[i], string.format('%.0f', 2 * ttl))
    end
    said[i], first = 1, i + 1
end
if first > leases then
    return said
end

-- uses slots.lua
local function serve(i)
    local a = 4 * i
    local token, ttl, heal, not_after = ARGV[a - 3], tonumber(ARGV[a - 2]), ARGV[a - 1], ARGV[a]
    if not_after ~= '0' and now > tonumber(not_after) then
        return string.format('%.0f', now)
    end
    turn_to(KEYS[i])
    local value = redis.pcall('get', slot)
    if type(value) == 'table' and string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
        redis.call('get', slot) -- as in value.lua
    end
    if value ~= token and (value or heal ~= '1' or
            redis.pcall('exists', 'redlock:released:' .. token) == 1) then
        return value and -1 or 0
    end
    if not value then
        redis.call('set', slot, token, 'px', ttl)
    elseif redis.call('pttl', slot) < ttl then
        redis.call('pexpire', slot, ttl)
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
end

-- uses one_by_one.lua
