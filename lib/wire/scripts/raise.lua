-- Stores a fence: advances the logical clock up to it, if the token holds every name, shared or not.
-- A later holder is then granted a larger number here.
-- KEYS the names, redlock:clock   ARGV token, fence
-- Returns {1, clock} stored, {0, clock} a name is free, {-1, clock} another token has one.
-- uses value.lua
local names, clock = #KEYS - 1, KEYS[#KEYS]
-- uses clock_once.lua
local state = 1
for i = 1, names do
    local value = value_of(KEYS[i])
    if not value then
        state = math.min(state, 0)
    elseif value ~= ARGV[1] then
        -- uses holders.lua
        if value ~= MARK or not readers().has(KEYS[i], ARGV[1]) then
            state = -1
        end
    end
end
local fence = tonumber(ARGV[2])
if state == 1 and fence > h then
    h = fence
    redis.call('hset', clock, 'h', string.format('%.0f', h))
end
return {state, h}
