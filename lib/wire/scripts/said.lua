-- What is said of a name: by whom, and to whom that is told.  The build puts this where a script
-- says that it uses it.

-- The record of a name: "<term> <number> <token> <value>".  Returns it, its term, number and token;
-- nothing if none stands there, or it is not ours.  A user that may not look fails.
local function record_of(name)
    local record = redis.pcall('get', 'redlock:leader:' .. name)
    if type(record) == 'table' then
        if string.sub(record.err, 1, 9) ~= 'WRONGTYPE' then
            redis.call('get', 'redlock:leader:' .. name)
        end
        return nil
    end
    local term, number, token = string.match(record or '', '^(%d+) (%d+) ([^ ]+) ')
    if term then
        return record, tonumber(term), tonumber(number), token
    end
end

-- Of more than a thousand observers only these are told; the others look by themselves.
local function tell_observers(name, left, record)
    local time, observers = redis.call('time'), 'redlock:observers:' .. name
    local now = string.format('(%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
    local channels = redis.pcall('zrange', observers, now, '+inf', 'byscore', 'limit', 0, 1000)
    for i = 1, #channels do
        redis.pcall('publish', channels[i],
            'said ' .. #name .. ' ' .. name .. ' ' .. left .. ' ' .. record)
    end
end
