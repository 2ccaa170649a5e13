-- The protected resource: one register, as it is with fencing tokens and as it is without.
-- The checked one keeps two fences for each name, the highest that wrote and the highest that
-- read: it refuses a write below either and a read below the former. The unchecked one takes
-- everything, and only notes that it was late. An act without a fence (0) is never late.
--
--     KEYS     the log (a list), the fences (a hash)
--     ARGV     name, fence, worker, number, act: read or write
--     returns  CHECKED UNCHECKED
--     the log  SEQ NAME FENCE WORKER NUMBER ACT CHECKED UNCHECKED
local name, fence, act = ARGV[1], tonumber(ARGV[2]), ARGV[5]

local function highest(of)
    return tonumber(redis.call('hget', KEYS[2], of .. ' ' .. name) or '0')
end

local checked, unchecked = 'accepted', 'fresh'
if fence == 0 then
    checked = 'unfenced'
elseif fence < highest('write') or act == 'write' and fence < highest('read') then
    checked, unchecked = 'refused', 'stale'
elseif fence > highest(act) then
    redis.call('hset', KEYS[2], act .. ' ' .. name, ARGV[2])
end
local verdict = checked .. ' ' .. unchecked
local served = redis.call('incr', KEYS[1] .. ':served')
redis.call('rpush', KEYS[1], string.format('%.0f %s %s %s %s %s %s', served, name, ARGV[2], ARGV[3],
                                           ARGV[4], act, verdict))
return verdict
