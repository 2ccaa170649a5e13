-- grant.lua for several leases of one name each, one after the other.
-- KEYS a name for each, redlock:clock
-- ARGV window us (see there), and for each: ttl ms, proposal us (0: without a fence), token.
-- If all have one ttl, and proposals that follow one another or none, only the first one's are there.
-- Returns for each the clock if it was granted with a fence, 0 if without one.
-- The clock is below zero if the name is held or has a waiter; an error if it could not be granted.
local count, clock, alike = #KEYS - 1, KEYS[#KEYS], #ARGV == #KEYS + 2
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
local pcall = redis.pcall
local was = tonumber(redis.call('hget', clock, 'h') or '') or 0
local h, at, ttl, proposal = was, 4, ARGV[2], tonumber(ARGV[3])
local step = proposal > 0 and 1 or 0
-- From Redis 7.0 on SET tells, for GET, what was there: no table for a free name, which is costly to make.
local tells = redis.REDIS_VERSION_NUM ~= nil
local get = tells and 'get' or 'nx'
for i = 1, count do
    local may, it = h > 0 or proposal == 0, nil
    local told = may and pcall('set', KEYS[i], ARGV[at], 'nx', get, 'px', ttl)
    local set = (not told) == tells
    if told and type(told) == 'table' and told.err and string.sub(told.err, 1, 9) ~= 'WRONGTYPE' then
        it = told
    elseif set and proposal == 0 then
        it = 0
    elseif h <= 0 then
        it = redis.error_reply('NOCLOCK redlock:clock is gone')
    else
        h = h + 1
        if set and proposal > h then
            h = math.max(h, math.min(proposal, most))
        end
        it = set and h or -h
    end
    said[i] = it
    -- uses ask_next.lua
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
