-- Gives back: deletes each name that still holds the token, which waits no longer
-- either; what is free goes to the next in line.
-- KEYS the names   ARGV token
-- Returns 1 all were ours, 0 nobody has them, -1 somebody else has one.
local ours, absent, queues = 0, 0, {}
for i = 1, #KEYS do
    local value = redis.pcall('get', KEYS[i])
    if value == ARGV[1] then
        redis.call('del', KEYS[i])
        ours = ours + 1
    elseif not value then
        absent = absent + 1
    end
    queues[i] = 'redlock:queue:' .. KEYS[i]
end
if redis.pcall('exists', unpack(queues)) ~= 0 then
    -- uses handover.lua
    for i = 1, #KEYS do
        pass_on(KEYS[i], ARGV[1], #KEYS == 1 and ours == 1)
    end
end
if ours == #KEYS then
    return 1
end
return ours + absent == #KEYS and 0 or -1
