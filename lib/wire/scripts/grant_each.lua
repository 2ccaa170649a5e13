-- grant.lua for several leases of one name each, one after the other.
-- KEYS a name for each, redlock:clock
-- ARGV window us (see there), and for each: token, ttl ms, proposal us (0: without a fence).
-- Returns for each the clock if it was granted with a fence, 0 if without one.
-- The clock is below zero if the name is held or has a waiter; an error if it could not be granted.
local count, clock = #KEYS - 1, KEYS[#KEYS]
local time = redis.call('time')
local most = time[1] * 1000000 + time[2] + tonumber(ARGV[1])
local said, queues = {}, {}
for i = 1, count do
    queues[i] = 'redlock:queue:' .. KEYS[i]
end
if redis.call('exists', unpack(queues)) > 0 then
    -- uses grant_awaited.lua
end

-- An error of one lease must not become the error of all: a client takes that
-- for nothing done.
local pcall, max, min = redis.pcall, math.max, math.min
local was = tonumber(redis.call('hget', clock, 'h') or '') or 0
local h = was
for i = 1, count do
    local proposal = tonumber(ARGV[3 * i + 1])
    local may, it = h > 0 or proposal == 0, nil
    local set = may and pcall('set', KEYS[i], ARGV[3 * i - 1], 'nx', 'px', ARGV[3 * i])
    if set and (set.err or proposal == 0) then
        it = set.err and set or 0
    elseif h <= 0 then
        it = redis.error_reply('NOCLOCK redlock:clock is gone')
    else
        h = set and max(h + 1, min(proposal, most)) or h + 1
        it = set and h or -h
    end
    said[i] = it
end

-- The clock is stored once for all.  A user that may not write it (an ACL) gets no name for it.
local stored = h ~= was and pcall('hset', clock, 'h', string.format('%.0f', h))
for i = 1, type(stored) == 'table' and count or 0 do
    local it = said[i]
    if it ~= 0 and type(it) == 'number' then
        if it > 0 then
            pcall('del', KEYS[i])
        end
        said[i] = stored
    end
end
return said
