-- The sets of readers go with their names, if the one that leaves each is the only live one: then it is the
-- last member, too.  The build puts this where release_each.lua says that it uses it.
local try, time = redis.pcall, redis.call('time')
local now = string.format('(%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
gone = {unpack(KEYS)}
for i = 1, #KEYS do
    if are_ours and values[i] ~= ARGV[i] then
        local holders = 'redlock:holders:' .. KEYS[i]
        are_ours = try('zcount', holders, now, '+inf') == 1 and
            try('zrange', holders, '-1', '-1')[1] == ARGV[i]
        gone[#gone + 1] = holders
    end
end
