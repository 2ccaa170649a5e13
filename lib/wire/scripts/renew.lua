-- Prolongs names that hold the token, and never shortens them.  Takes an absent name again only with
-- heal, and only if no other process has given the token back (mark.lua).  Else a renewal without a limit,
-- by which a process takes the lease over, does not even prolong: the names may have been taken again by a
-- late request.
-- KEYS the names   ARGV token, ttl ms, heal 0|1, not after (us of TIME; 0: no limit).
-- Returns 1 renewed, 2 renewed and healed, 0 absent, -1 another token has one,
-- {'late', TIME} past the limit.
-- uses late.lua
local absent = {}
for i = 1, #KEYS do
    local value = redis.pcall('get', KEYS[i])
    if not value then
        absent[#absent + 1] = KEYS[i]
    elseif value ~= ARGV[1] then
        if type(value) == 'table' and string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
            -- As in value.lua, whose function would make every renewal slower.
            redis.call('get', KEYS[i])
        end
        return -1
    end
end
if #absent > 0 and ARGV[3] ~= '1' or
    (#absent > 0 or ARGV[4] == '0') and redis.pcall('exists', 'redlock:released:' .. ARGV[1]) == 1 then
    return 0
end
-- From Redis 7.0 on one command prolongs and never shortens.
local has_gt = redis.REDIS_VERSION_NUM
for i = 1, #KEYS do
    if not (has_gt and redis.call('pexpire', KEYS[i], ARGV[2], 'gt') == 1) and
        redis.call('pttl', KEYS[i]) < tonumber(ARGV[2]) then
        redis.call('pexpire', KEYS[i], ARGV[2])
    end
end
for i = 1, #absent do
    redis.call('set', absent[i], ARGV[1], 'px', ARGV[2])
end
return #absent > 0 and 2 or 1
