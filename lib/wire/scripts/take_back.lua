-- How a reader leaves.  The build puts this where a script says that it uses it.

-- Takes the token out of the readers of a marked name, which is free when the last one leaves.
-- Returns whether the token was a reader, and whether the name is free now; or an error if the
-- user may not look, or may not take it out.
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
    local removed = redis.pcall('zrem', holders, token)
    if type(removed) == 'table' then
        return removed
    end
    local last = redis.call('zrange', holders, '-1', '-1', 'withscores')[2]
    local is_free = not last or tonumber(last) <= now
    if is_free then
        redis.call('del', name, holders)
    elseif tonumber(last) < tonumber(expiry) then
        -- The reader has left, also if the user may not do this.
        redis.pcall('pexpireat', name, last)
        redis.pcall('pexpireat', holders, last)
    end
    return tonumber(expiry) > now, is_free
end
