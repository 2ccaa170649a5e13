-- Tells what is said of a name, and enters a channel on which its changes are told.
-- KEYS the name   ARGV channel ('': none), how long that is told, in ms
-- Returns {the record, PTTL}, or nil if nothing is said.
-- uses said.lua
if ARGV[1] ~= '' then
    local time, observers = redis.call('time'), 'redlock:observers:' .. KEYS[1]
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    -- A user that may not enter itself is told what is said all the same.
    redis.pcall('zremrangebyscore', observers, '-inf', string.format('%.0f', now))
    redis.pcall('zadd', observers, string.format('%.0f', now + ARGV[2]), ARGV[1])
    local left = redis.pcall('pttl', observers)
    if type(left) == 'number' and left < tonumber(ARGV[2]) then
        redis.pcall('pexpire', observers, ARGV[2])
    end
end
local record = record_of(KEYS[1])
return record and {record, redis.call('pttl', 'redlock:leader:' .. KEYS[1])}
