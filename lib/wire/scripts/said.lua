-- What is said of a name, and who is told of a change.  The build puts this where a script says that
-- it uses it.
--   redlock:leader:<name>     "<term> <number> <token> <value>": said by the token that had the name
--                             in this term; expires
--   redlock:observers:<name>  sorted set of channels by expiry, in ms of TIME
-- These are not in KEYS: they follow from the name, and a master is no cluster.
-- uses value.lua
local name = KEYS[1]
local leader, observers = 'redlock:leader:' .. name, 'redlock:observers:' .. name

local function ms_now()
    local time = redis.call('time')
    return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- From 1 to 2^53, as this library writes it; else nil.
local function number_of(digits)
    local number = tonumber(digits)
    if number and number >= 1 and number <= 2 ^ 53 and string.format('%.0f', number) == digits then
        return number
    end
end

-- Returns the record, the ms that it has left, its term, number and token; nil if nothing is said.
-- What this library would not have written is nothing.
local function said()
    local record = value_of(leader)
    if type(record) ~= 'string' then
        return nil
    end
    local term, number, token, at = string.match(record, '^(%d+) (%d+) ([^ ]+) ()')
    term, number = number_of(term or ''), number_of(number or '')
    if not term or not number or #token > 95 or #record - at >= 65536 then
        return nil
    end
    local left = redis.call('pttl', leader)
    if left > 0 then
        return record, left, term, number, token
    end
end

-- Tells the observers, or the first thousand of them.  One that is not told, as a user's ACL may
-- have it, finds out when it asks.
local function tell(left, record)
    local channels = redis.pcall('zrange', observers, string.format('(%.0f', ms_now()), '+inf',
        'byscore', 'limit', 0, 1000)
    for i = 1, #channels do
        redis.pcall('publish', channels[i],
            string.format('said %.0f ', #name) .. name .. ' ' .. left .. ' ' .. record)
    end
end
