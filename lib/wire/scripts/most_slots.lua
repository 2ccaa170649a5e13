-- `count` is the number of slots that this client knows of.  The largest of any client is stored for
-- looks, which look at no slot beyond it.  It is stored for an hour, and at least for `lasts` ms, the
-- time for which the slot may be held, and never for less than before, for another slot.  The build puts
-- this where a script says that it uses it.
local count = tonumber(ARGV[5])
local most, left = redis.pcall('get', permits), tonumber(redis.pcall('pttl', permits)) or -2
local kept = string.format('%.0f', math.max(3600000, lasts, left))
local known = type(most) == 'string' and math.min(tonumber(most) or 0, slots_most) or 0
if known > count and left < lasts then
    -- The larger number is forgotten, unless a slot beyond this one is held or waited for.
    local beyond = {}
    for j = count, known - 1 do
        local key = 'redlock:permit:' .. j .. ':' .. name
        beyond[#beyond + 1], beyond[#beyond + 2] = key, 'redlock:queue:' .. key
    end
    most = redis.call('exists', unpack(beyond)) > 0 and most or ARGV[5]
    redis.pcall('set', permits, most, 'px', kept)
elseif type(most) ~= 'table' and known <= count then
    redis.pcall('set', permits, ARGV[5], 'px', kept)
end
