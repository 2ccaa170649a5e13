-- Prolongs where the token is ours, never shortens; takes an absent name again
-- only if told so.
-- KEYS the names   ARGV token, ttl ms, heal 0|1, not after (us of TIME; 0: no limit)
-- Returns 1 renewed, 2 renewed and healed, 0 absent, -1 somebody else has one,
-- {'late', TIME} past the limit.
if ARGV[4] ~= '0' then
    local time = redis.call('time')
    local now = time[1] * 1000000 + time[2]
    if now > tonumber(ARGV[4]) then
        return {'late', string.format('%.0f', now)}
    end
end
local absent = {}
for i = 1, #KEYS do
    local value = redis.pcall('get', KEYS[i])
    if not value then
        absent[#absent + 1] = KEYS[i]
    elseif value ~= ARGV[1] then
        return -1
    end
end
if #absent > 0 and ARGV[3] ~= '1' then
    return 0
end
for i = 1, #KEYS do
    if redis.call('pttl', KEYS[i]) < tonumber(ARGV[2]) then
        redis.call('pexpire', KEYS[i], ARGV[2])
    end
end
for i = 1, #absent do
    redis.call('set', absent[i], ARGV[1], 'px', ARGV[2])
end
return #absent > 0 and 2 or 1
