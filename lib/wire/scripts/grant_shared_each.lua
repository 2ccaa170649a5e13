-- grant_shared.lua for several leases of one shared name each, one after the other.
-- KEYS a name for each, redlock:clock
-- ARGV as of grant_each.lua.
-- Returns for each the clock if it was granted with a fence, 0 if without one.
-- The clock is below zero if the name is held exclusively or has a waiter; an error if it could not
-- be granted.
local count, clock, alike = #KEYS - 1, KEYS[#KEYS], #ARGV == #KEYS + 2
local time = redis.call('time')
local now = time[1] * 1000000 + time[2]
local most = now + tonumber(ARGV[1])

-- Mostly nobody has, had or waits for any of the names: no function is made, for that is costly.
if redis.pcall('exists', unpack(KEYS, 1, count)) == 0 then
    local keys, twice = {}, false
    for i = 1, count do
        local name = KEYS[i]
        twice, keys[name] = twice or keys[name], true
        keys[i], keys[count + i] = 'redlock:holders:' .. name, 'redlock:queue:' .. name
    end
    if not twice and redis.pcall('exists', unpack(keys)) == 0 then
        -- uses first_readers.lua
    end
end

-- uses holders.lua
-- uses asked.lua
-- uses each_clock.lua
-- True if a waiter is left.
local function serve_those_who_wait()
    return false
end
-- Where nobody waits, the clock is stored with the first that moves it, as a user may not be allowed to
-- (an ACL), and once more for all others.
local store, stored = move_on, nil
if redis.call('exists', unpack(queues)) > 0 then
    -- uses handover.lua
    function serve_those_who_wait(name)
        hand_over_if_open(name)
        h = logical_clock()
        return first_alive(name)
    end
else
    function move_on(to)
        stored = stored or store(to)
        h = to
        return h
    end
end

local function grant(i)
    local name, token, ttl, proposal = KEYS[i], asked(i)
    if not h or h <= 0 then
        return redis.error_reply('NOCLOCK redlock:clock is gone')
    end
    local waits = serve_those_who_wait(name)
    local is_open, value = readers().is_open(name, 's')
    if waits or not is_open then
        return -move_on(h + 1)
    end
    local granted = proposal ~= 0 and move_on(math.max(h + 1, math.min(proposal, most))) or 0
    readers().share(name, token, tonumber(ttl), value, now)
    return granted
end

-- An error of one lease must not become the error of all: a client takes that
-- for nothing done.
local said = {}
for i = 1, count do
    local done, it = pcall(grant, i)
    said[i] = (done or type(it) == 'table') and it or redis.error_reply(tostring(it))
end
if stored and stored ~= h then
    store(h)
end
return said
