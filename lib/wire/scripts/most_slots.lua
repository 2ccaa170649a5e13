-- The largest number of slots that any client knows of is stored for looks, which look at no slot beyond
-- it.  The build puts this where a script says that it uses it.

-- This client knows of `text` slots, and may hold one for `lasts` ms.  The number is stored for twice as
-- long, and again when less than one and a half of it is left, so most grants store nothing.  It never
-- ends sooner than before, for another slot.
local function learn(text, lasts)
    local count, most = tonumber(text), redis.pcall('get', permits)
    local left = most and tonumber(redis.pcall('pttl', permits)) or -2
    local is_short = left < 1.5 * lasts
    if type(most) == 'table' or not is_short and most == text then
        return
    end
    local known = most and math.min(tonumber(most) or 0, slots_most) or 0
    local stays = known > count
    if stays and is_short then
        -- The larger number is forgotten, unless a slot beyond this one is held or waited for.
        local beyond = {}
        for j = count, known - 1 do
            local key = 'redlock:permit:' .. j .. ':' .. name
            beyond[#beyond + 1], beyond[#beyond + 2] = key, 'redlock:queue:' .. key
        end
        stays = redis.call('exists', unpack(beyond)) > 0
    end
    if known < count or is_short then
        redis.pcall('set', permits, stays and most or text, 'px',
            string.format('%.0f', math.max(2 * lasts, left)))
    end
end
