-- renew_shared.lua for several leases of one shared name each.
-- KEYS a name for each
-- ARGV for each: token, ttl ms, heal 0|1, not after (us of TIME; 0: no limit).
-- Returns for each 1 renewed, 2 healed, 0 absent, -1 another token has it, a string (TIME) past the
-- limit.  It is an error if the user may not look at it or set it again.
-- uses holders.lua
local time = redis.call('time')
local now = time[1] * 1000000 + time[2]

local function renew(name, token, ttl, heal, not_after)
    if not_after ~= '0' and now > tonumber(not_after) then
        return string.format('%.0f', now)
    end
    local value = value_of(name)
    if value and value ~= token and value ~= MARK then
        return -1
    end
    local is_ours = value == token or value and readers().has(name, token)
    if not is_ours and heal ~= '1' or
        (not is_ours or not_after == '0') and redis.pcall('exists', 'redlock:released:' .. token) == 1 then
        return 0
    end
    if value ~= token then
        readers().prolong(name, token, ttl, value)
    elseif redis.call('pttl', name) < ttl then
        redis.call('pexpire', name, ttl)
    end
    return is_ours and 1 or 2
end

-- An error of one lease must not become the error of all.
local said = {}
for i = 1, #KEYS do
    local a = 4 * i
    local done, it = pcall(renew, KEYS[i], ARGV[a - 3], tonumber(ARGV[a - 2]), ARGV[a - 1], ARGV[a])
    said[i] = (done or type(it) == 'table') and it or redis.error_reply(tostring(it))
end
return said
