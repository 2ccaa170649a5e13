-- How a reader leaves.  The build puts this where a script says that it uses it.

-- Takes the token out of the readers of a marked name, which is free when the last one leaves.
-- Returns whether the token was a reader, and whether the name is free now; or an error if the
-- user may not look.
local function take_back(name, token)
    local holders = 'redlock:holders:' .. name
    local expiry = redis.pcall('zscore', holders, token)
    if type(expiry) == 'table' and string.sub(expiry.err, 1, 9) ~= 'WRONGTYPE' then
        return expiry
    elseif type(expiry) ~= 'string' then
        return false
    end
    local time = redis.call('time')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    redis.call('zrem', holders, token)
    local last = redis.call('zrange', holders, -1, -1, 'withscores')[2]
    local is_free = not last or tonumber(last) <= now
    if is_free then
        redis.call('del', name, holders)
    elseif tonumber(last) < tonumber(expiry) then
        redis.call('pexpireat', name, last)
        redis.call('pexpireat', holders, last)
    end
    return tonumber(expiry) > now, is_free
end
