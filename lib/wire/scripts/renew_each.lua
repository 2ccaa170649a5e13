-- renew.lua for several leases of one name each.
-- KEYS a name for each
-- ARGV for each: token, ttl ms, heal 0|1, not after (us of TIME; 0: no limit).
-- Returns for each 1 renewed, 2 healed, 0 absent, -1 another token has it, a string (TIME) past the
-- limit.  It is an error if the user may not look at it or set it again.
local time = redis.call('time')
local now = time[1] * 1000000 + time[2]

local function renew(name, token, ttl, heal, not_after)
    if not_after ~= '0' and now > tonumber(not_after) then
        return string.format('%.0f', now)
    end
    local value = redis.pcall('get', name)
    if type(value) == 'table' and string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
        return value
    elseif value and value ~= token then
        return -1
    end
    if not value and heal ~= '1' or
        (not value or not_after == '0') and redis.pcall('exists', 'redlock:released:' .. token) == 1 then
        return 0
    end
    if value then
        if redis.call('pttl', name) < tonumber(ttl) then
            redis.call('pexpire', name, ttl)
        end
        return 1
    end
    local set = redis.pcall('set', name, token, 'px', ttl)
    return set.err and set or 2
end

-- Where the server can prolong and never shorten in one command (from Redis 7.0 on), a name that holds
-- the token mostly needs no more.  Names that a user may not look at are looked at one by one.
local said, pcall = {}, redis.pcall
local values = redis.REDIS_VERSION_NUM and pcall('mget', unpack(KEYS)) or {}
for i = 1, #KEYS do
    local a = 4 * i
    local token, ttl, not_after = ARGV[a - 3], ARGV[a - 2], ARGV[a]
    if values[i] == token and not_after ~= '0' and now <= tonumber(not_after) and
        pcall('pexpire', KEYS[i], ttl, 'gt') == 1 then
        said[i] = 1
    else
        said[i] = renew(KEYS[i], token, ttl, ARGV[a - 1], not_after)
    end
end
return said
