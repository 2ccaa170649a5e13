-- How a name gets its first reader.  The build puts this where a script says that it uses it.

-- Neither the name nor its set of readers is there.  The marker comes last, and a set that may
-- not expire (an ACL) is emptied again: a failure keeps nobody out.
local function begin_sharing(name, token, expiry)
    local holders = 'redlock:holders:' .. name
    redis.call('zadd', holders, expiry, token)
    if type(redis.pcall('pexpireat', holders, expiry)) == 'table' then
        redis.call('zrem', holders, token)
        redis.call('pexpireat', holders, expiry)
    end
    redis.call('set', name, 'redlock:shared', 'pxat', expiry)
end
