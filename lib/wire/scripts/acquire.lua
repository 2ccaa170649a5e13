-- Takes several names at once, all or none.  (One name is taken by a plain SET NX PX.)
-- KEYS the names   ARGV token, ttl ms
-- Returns 1 taken, -1 one of them is held.
if redis.call('exists', unpack(KEYS)) > 0 then
    return -1
end
for i = 1, #KEYS do
    redis.call('set', KEYS[i], ARGV[1], 'px', ARGV[2])
end
return 1
