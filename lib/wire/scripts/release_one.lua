-- How one name that holds the token is released, and given to its first waiter if that waits for this name
-- alone, exclusively; the script ends then.  The build puts this where release.lua says that it uses it,
-- before any function is made, for that is costly.
-- Any other waiter, and whatever the user may not do (an ACL), is left to release.lua, which goes on.
local try, name, queue = redis.pcall, KEYS[1], 'redlock:queue:' .. KEYS[1]
local head = try('exists', queue) ~= 0 and try('zrange', queue, 0, 0)
if not head then
    redis.call('del', name)
    return 1
end
local first, token = head[1], ARGV[1]
local waiter = 'redlock:waiter:' .. (first or '')
local left = first and first ~= token and try('pttl', waiter)
local record = type(left) == 'number' and left > 0 and try('get', waiter)
local is_read, names = pcall(cmsgpack.unpack, record or '')
if is_read and type(names) == 'table' and #names == 2 and names[2] == name and type(names[1]) == 'string' then
    -- As in handover.lua; the message to the waiter comes last, and may fail.
    local h = tonumber(try('hget', 'redlock:clock', 'h') or '')
    local text = h and string.format('%.0f', h + 1)
    if text and type(try('hset', 'redlock:clock', 'h', text)) == 'number' and
        not try('set', name, first, 'px', left).err then
        if try('zrem', queue, token, first) == 2 then -- it also waited itself
            try('del', 'redlock:waiter:' .. token)
        end
        try('del', waiter)
        try('publish', names[1], first .. ' ' .. text)
        return 1
    end
end
