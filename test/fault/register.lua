-- The protected resource: one register, as it is with fencing tokens and as it is without.
-- The checked one refuses a fence below one that it has seen for the name; the unchecked one
-- takes everything, and only notes that a later holder had written before. A write without a
-- fence (0) can be told from no other.
-- KEYS the log (a list), the fences (a hash)   ARGV name, fence, worker, number
-- Returns "CHECKED UNCHECKED"; the log gets "SEQ NAME FENCE WORKER NUMBER CHECKED UNCHECKED".
local name, fence = ARGV[1], tonumber(ARGV[2])
local newest = tonumber(redis.call('hget', KEYS[2], name) or '0')
local checked, unchecked = 'accepted', 'fresh'
if fence == 0 then
    checked = 'unfenced'
elseif fence < newest then
    checked, unchecked = 'refused', 'stale'
else
    redis.call('hset', KEYS[2], name, ARGV[2])
end
local verdict = checked .. ' ' .. unchecked
local served = redis.call('incr', KEYS[1] .. ':served')
redis.call('rpush', KEYS[1], string.format('%.0f %s %s %s %s %s', served, name, ARGV[2], ARGV[3],
                                           ARGV[4], verdict))
return verdict
