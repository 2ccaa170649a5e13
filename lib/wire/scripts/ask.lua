-- Tells the holder of a name, if it heeds, that somebody wishes to have it.  It changes no lease.
-- KEYS the name, the name of its wishes   ARGV id of the wish, its ms, its words, least number of waiters
--
-- Returns nil if the name is free, else {its value (256 bytes at most), PTTL, waiters, those who heed}.
--
-- The wish is an announcement about its name: the term is the id, the number counts the waiters and one.
-- Its token is that of the present holder, so no later one takes it for its own.  Readers, and the value
-- of another program, are asked in vain.
-- uses said.lua
local holder = value_of(KEYS[1])
if not holder then
    return nil
end
if type(holder) == 'table' then
    holder = '(a ' .. redis.call('type', KEYS[1]).ok .. ', not a lock)'
end
local waiting = redis.pcall('zcount', 'redlock:queue:' .. KEYS[1], '-inf', '+inf')
waiting = math.max(type(waiting) == 'number' and waiting or 0, tonumber(ARGV[4]))
local told = {string.sub(holder, 1, 256), redis.call('pttl', KEYS[1]), waiting, 0}
if #holder > 95 or holder == 'redlock:shared' or not string.match(holder, '^[^ ]+$') then
    return told
end
local was, _, id, _, token = said()
local record = table.concat({ARGV[1], string.format('%.0f', waiting + 1), holder, ARGV[3]}, ' ')
redis.call('set', leader, record, 'px', ARGV[2])
if not was or id ~= tonumber(ARGV[1]) or token ~= holder then
    tell(ARGV[2], record)
end
told[4] = redis.call('zcount', observers, string.format('(%.0f', ms_now()), '+inf')
return told
