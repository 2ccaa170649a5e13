-- Writes fields of a hash for the holder of a lock, and refuses every holder before the newest.
-- The hash keeps the newest fence in its field "fence", so both are written or neither.
-- Without fields it only claims: do that before reading what the writes depend on.
--
--   redis-cli --eval fenced_set.lua account:7 , "$REDLOCK_FENCE" balance 90
--
-- KEYS the hash   ARGV fence, then field and value, as often as you like
-- Returns OK; or the error FENCED, and nothing is written: a newer holder has been here.
local function fence_of(text)
    -- tonumber alone would take "1e3", "0x10" and " 7".
    local fence = string.match(text, '^[1-9]%d*$') and tonumber(text)
    return fence and fence <= 9007199254740991 and fence
end

local fence = fence_of(ARGV[1] or '')
if not fence then
    return redis.error_reply('ERR fence must be an integer from 1 to 9007199254740991')
end
if #ARGV % 2 == 0 then
    return redis.error_reply('ERR a field without a value')
end
for i = 2, #ARGV, 2 do
    if ARGV[i] == 'fence' then
        return redis.error_reply('ERR the field "fence" is kept by this script')
    end
end

local stored = redis.call('hget', KEYS[1], 'fence')
local newest = stored and fence_of(stored) or 0
if stored and newest == 0 then
    return redis.error_reply('ERR the field "fence" of ' .. KEYS[1] .. ' is not a fence')
end
if fence < newest then
    return redis.error_reply('FENCED a newer holder has been here, with fence ' .. stored)
end
-- Fences are copied as text: written as a Lua number, 1785000000123456 loses its last digits.
redis.call('hset', KEYS[1], 'fence', unpack(ARGV))
return redis.status_reply('OK')
