-- The announcement of a name.  The build puts this where a script says that it uses it.
--   redlock:leader:<name>     "<term> <number> <token> <value>": said by the token that had the name
--                             in this term; expires
-- It is not in KEYS: it follows from the name.
-- uses value.lua
-- uses observers.lua
local leader = 'redlock:leader:' .. name

-- From 1 to 2^53, as this library writes it; else nil.
local function number_of(digits)
    local number = tonumber(digits)
    if number and number >= 1 and number <= 2 ^ 53 and string.format('%.0f', number) == digits then
        return number
    end
end

-- Returns the record, the ms that it has left, its term, number and token; nil without an announcement.
-- A record that this library would not have written is none.
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
