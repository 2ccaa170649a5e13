-- A renewal ends that comes later than ARGV[4] allows (us of TIME; 0: no limit).  The build puts
-- this where a script says that it uses it.
if ARGV[4] ~= '0' then
    local time = redis.call('time')
    local now = time[1] * 1000000 + time[2]
    if now > tonumber(ARGV[4]) then
        return {'late', string.format('%.0f', now)}
    end
end
