-- Takes the names, all or none, for a fenced lease: each grant moves the master's
-- logical clock on, to what the client proposes if that is ahead.
-- KEYS the names, redlock:clock
-- ARGV token, ttl ms, proposal us, window us: no proposal counts beyond TIME by more
-- Returns {1, clock} taken, {-1, clock} somebody has one of them.
local names, clock = #KEYS - 1, KEYS[#KEYS]
local h = tonumber(redis.call('hget', clock, 'h') or '')
if not h then
    return redis.error_reply('NOCLOCK redlock:clock is gone')
end
if redis.call('exists', unpack(KEYS, 1, names)) > 0 then
    return {-1, h}
end
local time = redis.call('time')
local most = time[1] * 1000000 + time[2] + tonumber(ARGV[4])
h = math.max(h + 1, math.min(tonumber(ARGV[3]), most))
redis.call('hset', clock, 'h', string.format('%.0f', h))
for i = 1, names do
    redis.call('set', KEYS[i], ARGV[1], 'px', ARGV[2])
end
return {1, h}
