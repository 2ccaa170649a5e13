-- grant.lua for names of which at least one is shared.
-- KEYS the names, redlock:clock
-- ARGV token, ttl ms, proposal us, window us (see there), a letter for each name: x exclusive, s
-- shared.
-- Returns {1, clock} taken, 1 taken without a fence, {-1, clock} a name is held in a way that
-- excludes this, or has a waiter.
-- uses first_reader.lua
local names, clock = #KEYS - 1, KEYS[#KEYS]
local token, ttl, proposal, modes = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[5]

-- uses clock.lua

-- One name that nobody has, had or waits for: no function is made that this does not need.
local name = KEYS[1]
if names == 1 and
    redis.pcall('exists', name, 'redlock:queue:' .. name, 'redlock:holders:' .. name) == 0 then
    local time = redis.call('time')
    local now = time[1] * 1000000 + time[2]
    if proposal ~= 0 then
        h = math.max(h + 1, math.min(proposal, now + tonumber(ARGV[4])))
        redis.call('hset', clock, 'h', string.format('%.0f', h))
    end
    begin_sharing(name, token, string.format('%.0f', math.floor(now / 1000) + ttl))
    return proposal ~= 0 and {1, h} or 1
end

-- uses holders.lua
-- uses move_on.lua

local queues = {}
for i = 1, names do
    queues[i] = 'redlock:queue:' .. KEYS[i]
end
if redis.call('exists', unpack(queues)) > 0 then
    -- uses serve_first.lua
end
local values = {}
for i = 1, names do
    local is_open
    is_open, values[i] = readers().is_open(KEYS[i], string.sub(modes, i, i))
    if not is_open then
        return {-1, move_on(h + 1)}
    end
end
if proposal ~= 0 then
    -- uses proposed.lua
end
-- Shared names come first, for these may be forbidden where a SET is not.
for i = 1, names do
    if string.sub(modes, i, i) == 's' then
        readers().share(KEYS[i], token, ttl, values[i])
    end
end
for i = 1, names do
    if string.sub(modes, i, i) == 'x' then
        redis.call('set', KEYS[i], token, 'px', ttl)
    end
end
return proposal ~= 0 and {1, h} or 1
