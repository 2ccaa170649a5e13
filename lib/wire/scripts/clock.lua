-- The logical clock, `h`, of the key `clock`; a script without one ends.  The build puts this where
-- a script says that it uses it.
local function logical_clock()
    return tonumber(redis.call('hget', clock, 'h') or '')
end

local h = logical_clock()
if not h then
    return redis.error_reply('NOCLOCK redlock:clock is gone')
end
