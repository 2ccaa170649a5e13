-- The waiters for any slot of a name, and the number of free slots.  The build puts this where a script
-- says that it uses it.

-- As many as a client said, or 1.
local function known_slots()
    local most = redis.pcall('get', permits)
    return type(most) == 'string' and math.min(tonumber(most) or 1, slots_most) or 1
end

local function free_slots(count)
    local keys = {}
    for j = 1, count do
        keys[j] = 'redlock:permit:' .. (j - 1) .. ':' .. name
    end
    return count - redis.call('exists', unpack(keys))
end

-- uses waiters.lua

-- The waiter that is the `rank`-th by its ticket, or the last one, and how many of these are older
-- than `ticket`.
local function waiter_at(rank, ticket)
    local token, met, older = nil, 0, 0
    each_waiter(permits, 256, function(its_token, its)
        token, met = its_token, met + 1
        older = older + (ticket and its < ticket and 1 or 0)
        return met >= rank
    end)
    return token, older
end
