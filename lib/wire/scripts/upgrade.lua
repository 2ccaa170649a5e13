-- Takes names exclusively that the token has, all or none, if it is the only reader of those that
-- are shared.  Waiters are passed: they wait for this reader anyhow.
-- KEYS the names, redlock:clock
-- ARGV token, ttl ms, proposal us (0: without a fence), window us, as in grant.lua.
-- Returns {1, clock} or without a fence 1 if the names are the token's alone.
-- Else 2 others read one of them, 0 the token lacks one, -1 another token has one.
-- uses holders.lua
local names, clock = #KEYS - 1, KEYS[#KEYS]
local token, ttl, proposal = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

-- uses clock_once.lua
-- uses move_on.lua

local values, is_absent, is_read = {}, false, false
for i = 1, names do
    local value = value_of(KEYS[i])
    if not value or value == MARK and not readers().has(KEYS[i], token) then
        is_absent = true
    elseif value == MARK then
        is_read = is_read or not readers().has_alone(KEYS[i])
    elseif value ~= token then
        return -1
    end
    values[i] = value
end
if is_absent then
    return 0
elseif is_read then
    return 2
end
if proposal ~= 0 then
    -- uses proposed.lua
end
for i = 1, names do
    local ms = math.max(ttl, redis.call('pttl', KEYS[i]))
    if values[i] == MARK then
        redis.call('del', 'redlock:holders:' .. KEYS[i])
        redis.call('set', KEYS[i], token, 'px', ms)
    else
        redis.call('pexpire', KEYS[i], ms)
    end
end
return proposal ~= 0 and {1, h} or 1
