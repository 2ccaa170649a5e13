-- renew.lua for names of which at least one is shared.  A name with the letter s that holds the token
-- itself is ours, too, and stays so unless `convert` is 1.  Then the token becomes its reader, and the
-- readers that wait for it join.
-- KEYS the names
-- ARGV token, ttl ms, heal 0|1, not after (us of TIME; 0: no limit), a letter for each name: x
-- exclusive, s shared; convert 0|1.
-- Returns 1 renewed, 2 renewed and healed, 0 absent, -1 another token has one,
-- {'late', TIME} past the limit.
-- uses holders.lua
-- uses late.lua
local token, ttl = ARGV[1], tonumber(ARGV[2])

local function is_shared(i)
    return string.sub(ARGV[5], i, i) == 's'
end

local values, is_absent = {}, false
for i = 1, #KEYS do
    local value = value_of(KEYS[i])
    if not value or value == MARK and is_shared(i) and not readers().has(KEYS[i], token) then
        is_absent = true
    elseif value ~= token and not (value == MARK and is_shared(i)) then
        return -1
    end
    values[i] = value
end
if is_absent and ARGV[3] ~= '1' or
    (is_absent or ARGV[4] == '0') and redis.pcall('exists', 'redlock:released:' .. token) == 1 then
    return 0
end
local converts, converted = ARGV[6] == '1', {}
for i = 1, #KEYS do
    if values[i] == token and is_shared(i) and converts then
        readers().share(KEYS[i], token, math.max(ttl, redis.call('pttl', KEYS[i])))
        converted[#converted + 1] = KEYS[i]
    elseif values[i] == token then
        if redis.call('pttl', KEYS[i]) < ttl then
            redis.call('pexpire', KEYS[i], ttl)
        end
    elseif is_shared(i) then
        readers().prolong(KEYS[i], token, ttl, values[i])
    else
        redis.call('set', KEYS[i], token, 'px', ttl)
    end
end
if #converted > 0 then
    -- uses handover.lua
    for i = 1, #converted do
        hand_over_if_open(converted[i])
    end
end
return is_absent and 2 or 1
