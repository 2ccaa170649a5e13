-- The waiters for any slot of a name, each once.  The build puts this where a script says that it uses
-- it.  A waiter that stands in several queues has several tokens, of one ticket and one channel; two
-- clients may have drawn the same ticket.

-- Calls `visit` with the first token of each, and its ticket, until that returns true.  Returns how
-- many of the places were looked at, `most` of them at the most.
local function each_waiter(permits, most, visit)
    local met = {}
    local places = redis.call('zrange', 'redlock:queue:' .. permits, 0, most - 1, 'withscores')
    for i = 1, #places, 2 do
        -- Skips elements that are no waiters of this library.
        local record = redis.pcall('get', 'redlock:waiter:' .. places[i])
        local known, waiter = pcall(cmsgpack.unpack, record)
        local who = known and type(waiter) == 'table' and
            places[i + 1] .. ' ' .. tostring(waiter[1])
        if who and not met[who] then
            met[who] = true
            if visit(places[i], tonumber(places[i + 1])) then
                break
            end
        end
    end
    return #places / 2
end
