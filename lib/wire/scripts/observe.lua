-- Tells what is said of a name, and has each change told to a channel for some time.
-- KEYS the name   ARGV channel ('': nobody is to be told), ms for which it is told (0: no longer)
-- Returns {record, ms that it has left}, or nil if nothing is said.
-- uses said.lua
local function listen()
    local now, keep = ms_now(), tonumber(ARGV[2])
    redis.call('zremrangebyscore', observers, '-inf', string.format('%.0f', now))
    if keep == 0 then
        redis.call('zrem', observers, ARGV[1])
        return
    end
    redis.call('zadd', observers, 'gt', string.format('%.0f', now + keep), ARGV[1])
    if redis.call('pttl', observers) < keep then
        redis.call('pexpire', observers, ARGV[2])
    end
end

-- A user that may not write (an ACL) is told what is said all the same.
if ARGV[1] ~= '' then
    pcall(listen)
end
local record, left = said()
return record and {record, left}
