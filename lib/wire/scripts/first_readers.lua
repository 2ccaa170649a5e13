-- How names are granted shared that come once, and that nobody has, had or waits for; the script ends with
-- it.  The build puts this where grant_shared_each.lua says that it uses it.
-- Each does what readers().share() would do there, with the errors of first_reader.lua; the clock is stored
-- as in grant_each.lua.
local try, said = redis.pcall, {}
local was = tonumber(redis.call('hget', clock, 'h') or '') or 0
local h, at, ttl, proposal, lasts, expiry = was, 4, ARGV[2], tonumber(ARGV[3]), nil, nil
local step = proposal > 0 and 1 or 0
for i = 1, h > 0 and count or 0 do
    local holders = keys[i]
    if ttl ~= lasts then
        lasts, expiry = ttl, string.format('%.0f', math.floor(now / 1000) + ttl)
    end
    local it = try('zadd', holders, expiry, ARGV[at])
    if type(it) ~= 'table' then
        it = try('pexpireat', holders, expiry)
        if type(it) == 'table' then
            try('zrem', holders, ARGV[at])
        else -- with GET the answer is no table
            it = try('set', KEYS[i], 'redlock:shared', 'get', 'pxat', expiry)
        end
    end
    if type(it) == 'table' then
        said[i] = it
    elseif proposal == 0 then
        said[i] = 0
    else
        h = math.max(h + 1, math.min(proposal, most))
        said[i] = h
    end
    -- uses ask_next.lua
end
local stored = h ~= was and try('hset', clock, 'h', string.format('%.0f', h))
for i = 1, type(stored) == 'table' and count or 0 do
    if type(said[i]) == 'number' and said[i] > 0 then
        try('del', KEYS[i], keys[i])
        said[i] = stored
    end
end
if was > 0 then
    return said
end
