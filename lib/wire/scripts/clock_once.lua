-- The logical clock, `h`, of the key `clock`, as in clock.lua, for scripts that read it once: a function
-- is costly to make.  The build puts this where a script says that it uses it.
local h = tonumber(redis.call('hget', clock, 'h') or '')
if not h then
    return redis.error_reply('NOCLOCK redlock:clock is gone')
end
