-- The observers of a name, the last key.  The build puts this where a script says that it uses it.
--   redlock:observers:<name>  sorted set of channels by expiry, in ms of TIME
-- It is not in KEYS: it follows from the name, and a master is no cluster.
local name = KEYS[#KEYS]
local observers = 'redlock:observers:' .. name

local function ms_now()
    local time = redis.call('time')
    return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The channel gets changes for `ms`; 0: no longer.
local function listen(channel, keep)
    local now = ms_now()
    redis.call('zremrangebyscore', observers, '-inf', string.format('%.0f', now))
    if keep == 0 then
        redis.call('zrem', observers, channel)
        return
    end
    redis.call('zadd', observers, 'gt', string.format('%.0f', now + keep), channel)
    if redis.call('pttl', observers) < keep then
        redis.call('pexpire', observers, keep)
    end
end

-- Sends the observers, or the first thousand of them, the announcement with the ms that it has left.
-- '' and '0': they must ask, as the observers beyond a thousand must.  An observer that hears nothing,
-- perhaps because of an ACL, finds out when it asks.
local function tell(left, record)
    local channels = redis.pcall('zrange', observers, string.format('(%.0f', ms_now()), '+inf',
        'byscore', 'limit', 0, 1000)
    local begins, room = string.format('said %.0f ', #name) .. name .. ' ', 524288
    local message = begins .. left .. ' ' .. record
    for i = 1, #channels do
        if room < #record then
            message, record = begins .. '0 ', ''
        end
        room = room - #record
        redis.pcall('publish', channels[i], message)
    end
end
