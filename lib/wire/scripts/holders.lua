-- The readers of a name.  The build puts this where a script says that it uses it.
--   <name>                   holds the marker while the name is shared: it equals no token
--   redlock:holders:<name>   sorted set of the readers' tokens by expiry, in ms of TIME
-- A reader has the name if that holds the marker and the reader's expiry is ahead.  Both keys
-- expire with the last reader.
-- uses value.lua
local MARK = 'redlock:shared'

-- Returns the functions about readers.  They are made when they are first asked for: most
-- scripts meet none, and a function is costly to make.
local about_readers
local function readers()
    if about_readers then
        return about_readers
    end
    local function time_now()
        local time = redis.call('time')
        return time[1] * 1000 + math.floor(time[2] / 1000)
    end
    -- TIME at the first look: not all need it.
    local looked
    local function now()
        looked = looked or time_now()
        return looked
    end

    -- Another type in place of the set is nobody.  Of any other error a second call makes it
    -- name its line, as in value.lua.
    local function is_wrong_type(told)
        return type(told) == 'table' and string.sub(told.err, 1, 9) == 'WRONGTYPE'
    end

    -- The token is one of the readers of a marked name.
    local function has(name, token)
        local holders = 'redlock:holders:' .. name
        local expiry = redis.pcall('zscore', holders, token)
        if is_wrong_type(expiry) then
            return false
        elseif type(expiry) == 'table' then
            redis.call('zscore', holders, token)
        end
        return expiry and tonumber(expiry) > now()
    end

    -- A marked name has one reader.
    local function has_alone(name)
        return redis.call('zcount', 'redlock:holders:' .. name, '(' .. now(), '+inf') == 1
    end

    -- The name may be taken in this mode: 's' shared, 'x' exclusively.  Returns its value, too.
    local function is_open(name, mode)
        local value = value_of(name)
        return not value or mode == 's' and value == MARK, value
    end

    -- uses first_reader.lua
    -- Makes the token a reader of an open name, for `ms` at least.  A new marker forgets the
    -- readers of an earlier one.  TIME is read after each PTTL, also after the PTTL of `ms`.  Where
    -- the master's time goes on within a script (Redis 6.2, 7.0), a pause of the master between
    -- the two could otherwise cut off a reader.  A new reader whose set may not expire (an ACL) is
    -- removed again: a failure keeps nobody out.  A caller that has just read the value of the name
    -- passes it.  If `ms` came from a client, the caller may pass the `time` in us of its own look:
    -- a new marker has no PTTL.
    local function share(name, token, ms, value, time)
        local holders = 'redlock:holders:' .. name
        if value == nil then
            value = redis.call('get', name)
        end
        if value ~= MARK then
            if redis.call('exists', holders) > 0 then
                redis.call('del', holders)
            end
            local from = time and math.floor(time / 1000) or time_now()
            return begin_sharing(name, token, string.format('%.0f', from + ms))
        end
        local left, left_of_set = redis.call('pttl', name), redis.call('pttl', holders)
        local expiry = string.format('%.0f', time_now() + ms)
        local added = redis.pcall('zadd', holders, 'gt', expiry, token)
        if type(added) == 'table' then
            if is_wrong_type(added) then
                redis.call('del', holders)
                left_of_set = -1
            end
            added = redis.call('zadd', holders, expiry, token)
        end
        if left_of_set <= ms and type(redis.pcall('pexpireat', holders, expiry)) == 'table' then
            if added == 1 then
                redis.call('zrem', holders, token)
            end
            redis.call('pexpireat', holders, expiry)
        end
        if left <= ms then
            redis.call('pexpireat', name, expiry)
        end
    end

    -- A renewal forgets dead readers, 64 at the most: there may be thousands.  It does so first, and
    -- if none is dead as well: on a master whose memory is full ZADD may only come after another
    -- write.  The token itself goes with them if it is dead, so that share() finds it new.
    local function prolong(name, token, ms, value)
        local holders = 'redlock:holders:' .. name
        local dead = redis.pcall('zrange', holders, '-inf', now(), 'byscore', 'limit', 0, 64)
        if not dead.err then
            redis.call('zrem', holders, has(name, token) and '' or token, unpack(dead))
        elseif not is_wrong_type(dead) then
            redis.call('zrange', holders, '-inf', now(), 'byscore', 'limit', 0, 64)
        end
        share(name, token, ms, value)
    end

    about_readers = {has = has, has_alone = has_alone, is_open = is_open, share = share, prolong = prolong}
    return about_readers
end
