-- Puts a latch where this process was given none, or adds to it who has arrived.
-- KEYS the name   ARGV id, the process that it is for, how many it waits for, ms of TIME when it ends,
--                 1 it is open or 0, who has arrived, one a line
-- Returns as tally does; 0: it was not put here, for this is another process, or it has ended.
-- uses latch.lua
local is = record()
if is and is.id ~= ARGV[1] then
    return stands(is)
end
if ARGV[2] ~= run or tonumber(ARGV[4]) <= now then
    return 0
end
if not is then
    if facts().id ~= ARGV[1] then
        redis.call('del', latch)
    end
    is = {id = ARGV[1], of = ARGV[3], ends = ARGV[4], put = string.format('%.0f', now)}
    redis.call('zremrangebyscore', latch, 1, 1)
    redis.call('zadd', latch, 1, 'id:' .. is.id, 1, 'of:' .. is.of, 1, 'ends:' .. is.ends,
        1, 'run:' .. run, 1, 'put:' .. is.put)
    redis.call('pexpireat', latch, is.ends)
end
take_in(is, ARGV[6], ARGV[5])
return stands(is)
