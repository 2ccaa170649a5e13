-- Counts a party at a barrier, and opens it when there are enough; or keeps that it was passed.
-- Counts nobody at a generation if all that is known is that it, or a later one, was passed.
-- KEYS the name   ARGV token, generation, parties, ttl ms, ms for which `open` is kept, 1 it was
--                 passed or 0, the channel
--                 (`open` is kept for at least twice the longest ttl that any client has told this
--                 master: others may rely on their answers for that time.)
-- Returns one of
--
--     {state, parties, number counted, tokens of all if it is open}
--        state: 0 it waits, 1 open, 2 passed, -1 others wait for another number of parties, and it is
--        not counted
--     {3, parties of the latest generation that was passed, number counted here, that generation}
--
-- uses barrier.lua
local ttl = tonumber(ARGV[4])
local longest = tonumber(redis.call('hget', 'redlock:clock', 'm') or '') or 0
local kept = math.max(tonumber(ARGV[5]), 2 * longest)
local function note(fact)
    return redis.call('zadd', barrier, 'nx', '+inf', fact) == 1
end

local function lasts(ms)
    if redis.call('pttl', barrier) < ms then
        redis.call('pexpire', barrier, ms)
    end
end

local told = ARGV[6] == '1'
local open, passed, of = facts()
local latest, of_latest = later()
-- A party that reports an earlier generation as passed has just found that.
if latest and not open and not passed and not (told and latest > tonumber(generation)) then
    return over(latest, of_latest)
end
if of and of ~= parties and (open or passed or counted() > 0) then
    return stand()
end
if of and of ~= parties then
    redis.call('del', barrier) -- all who waited for another number have gone
end
if told and not latest then
    redis.call('set', record, generation .. ' of ' .. parties, 'px', week)
end
note('of:' .. parties)
redis.call('zadd', barrier, 'gt', string.format('%.0f', now + ttl), 't:' .. token)
lasts(ttl)
local news = told and note('passed')
if counted() >= parties and note('open') then
    news = true
end
local state = stand()
if state[1] > 0 then
    lasts(kept)
end
if news then
    tell('0', '')
end
-- A user that may not subscribe (an ACL) asks.
pcall(listen, ARGV[7], ttl)
return state
