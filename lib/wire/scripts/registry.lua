-- Who waits for any slot of a name, and how many slots are free.  The build puts this where a script
-- says that it uses it.

-- As many as a client said, or 1.
local function known_slots()
    local most = redis.pcall('get', permits)
    return type(most) == 'string' and math.min(tonumber(most) or 1, 1024) or 1
end

local function free_slots(count)
    local keys = {}
    for j = 1, count do
        keys[j] = 'redlock:permit:' .. (j - 1) .. ':' .. name
    end
    return count - redis.call('exists', unpack(keys))
end

-- The waiter that is the `rank`-th by its ticket, or the last one, and how many of these are older
-- than `ticket`.  One that stands in several queues has one ticket, and several tokens.
local function waiter_at(rank, ticket)
    local token, met, older, last = nil, 0, 0, nil
    local places = redis.call('zrange', 'redlock:queue:' .. permits, 0, 255, 'withscores')
    for i = 1, #places, 2 do
        local its = tonumber(places[i + 1])
        if its ~= last and redis.call('exists', 'redlock:waiter:' .. places[i]) == 1 then
            token, met, last = places[i], met + 1, its
            older = older + (ticket and its < ticket and 1 or 0)
            if met >= rank then
                break
            end
        end
    end
    return token, older
end
