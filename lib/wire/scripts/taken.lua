-- How a holder hears at once that another process has released its token, if it heeds wishes or watches for
-- that.  The build puts this where a script says that it uses it.  Of a name that follows from that of the
-- lock a push says "taken", which is no wish, and which is kept nowhere.
local function tell_taken(heard, token)
    local time = redis.call('time')
    local now = string.format('(%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
    local observers = 'redlock:observers:' .. heard
    local channels = redis.pcall('zrange', observers, now, '+inf', 'byscore', 'limit', 0, 1000)
    local message = string.format('said %.0f ', #heard) .. heard .. ' 1 1 1 ' .. token .. ' taken'
    for i = 1, #channels do
        redis.pcall('publish', channels[i], message)
    end
end

-- A release succeeds also for a user that may not do this.
if #ARGV[1] <= 95 and string.match(ARGV[1], '^[^ ]+$') then
    pcall(tell_taken, 'redlock:wish:' .. KEYS[1], ARGV[1])
    pcall(tell_taken, 'redlock:taken:' .. KEYS[1], ARGV[1])
end
