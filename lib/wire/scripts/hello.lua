-- The first request on every connection: which process is this master, and may it vote?
-- A master that restarted may have forgotten leases that are still held, so it
-- abstains until the longest of them has expired.  redlock:clock remembers
--   r run_id last seen   s when that process started   q end of the quarantine
--   m largest max ttl of any client   a run_id adopted by hand   h logical clock
--   w when it last took the place of another process, or was adopted
--   p master_replid2: whose data it got when it was last a replica
--
-- Times are microseconds of TIME; they are written with %.0f, for tostring loses digits.
-- KEYS redlock:clock
-- ARGV max ttl ms (0: a client that only looks, so nothing is written), drift ppm, skew ms, trust
-- 0|1, adopt 0|1, clock window us.
-- In place of adopt may stand the us (above 1) since another process answered at this address.  A word
-- more would hide NOAUTH: a server reads ten of them from a client that has not logged in.
-- Returns run_id, version, role, TIME, rest of the quarantine, m, uptime s, aof 0|1, eviction policy
-- ('': no memory limit), h, age of this process (TIME if it was adopted).
--
-- From Redis 7.0 on it may be asked for some parts of INFO; the whole costs the master more.
local info = redis.REDIS_VERSION_NUM and
    redis.call('info', 'server', 'memory', 'persistence', 'replication', 'cluster') or redis.call('info')
-- Found as plain text: a pattern is tried at each byte.
local function fact(name)
    local _, before = string.find(info, '\n' .. name .. ':', 1, true)
    return before and string.sub(info, before + 1, string.find(info, '\r', before, true) - 1) or ''
end
-- Every Valkey claims to be redis_version 7.2.4, too.
local function version()
    local valkey = fact('valkey_version')
    return valkey ~= '' and 'valkey ' .. valkey or fact('redis_version')
end
local time = redis.call('time')
local now = time[1] * 1000000 + time[2]
local uptime = tonumber(fact('uptime_in_seconds')) or 0
local run_id, role = fact('run_id'), fact('role')
local eviction = fact('maxmemory') ~= '0' and fact('maxmemory_policy') or ''

local function answer(left, max_ttl, clock, age)
    return {run_id, version(), role, now, left, max_ttl, uptime,
            tonumber(fact('aof_enabled')) or 0, eviction, clock, age}
end
if fact('cluster_enabled') == '1' then
    role = 'cluster'
end
-- A correction lets it leap forward, over the ends of all leases that were taken until then.
if uptime < 0 then
    return redis.error_reply('ERR its clock was set back behind its own start')
end
if role ~= 'master' then
    return answer(0, 0, 0, 0)
end

local function number(text)
    return tonumber(text or '') or 0
end
local was = redis.call('hmget', KEYS[1], 'r', 's', 'q', 'm', 'a', 'h', 'p', 'w')
local started, quarantine = number(was[2]), number(was[3])
local max_ttl = math.max(number(was[4]), number(ARGV[1]))
local adopted, clock = was[5] or '', number(was[6])
local window = number(ARGV[6])
local adopts, other_ago = ARGV[5] == '1', number(ARGV[5])
local replaced = number(was[8])

-- A former replica has the record of its old master.  That names this very process if the old master had
-- been its own replica; but then it does not know of this promotion.
local was_replica, source = (tonumber(fact('second_repl_offset')) or -1) ~= -1, fact('master_replid2')
local is_another = was[1] ~= run_id or was_replica and was[7] and was[7] ~= source
-- Uptime is cut to seconds at both ends, so it may be a second too long.  The quarantine would then end
-- that much too early, and a restart would look like another process.
local begun = now - math.max(0, uptime - 1) * 1000000
if is_another then
    started = begun
    -- The earlier promises of a replica are gone, and it is not known since when.
    started = was_replica and now or started
    adopted, replaced = '', 0
end
-- `longest`: how long a forgotten lease may last, with the skew.  `ahead`: how far a believed
-- clock may be above a wall (a window and the longer of lease and skew), less the lease.
local skew, lease = number(ARGV[3]) * 1000, max_ttl * 1000 * (1 + number(ARGV[2]) / 1000000)
local longest, ahead = skew + lease, window + math.max(0, skew - lease)
if is_another then
    -- The process may have forgotten its clock at any time (a flush, another process at its
    -- address), so the clock begins above all that is believed.
    clock = math.max(clock, math.ceil(now + lease + ahead))
end
-- It had begun when that process still answered, so it has none of its promises.  Once for each such
-- change: what answered before the last one is over by the end of that quarantine.
if other_ago > 1 and now - other_ago > math.max(begun, replaced) then
    quarantine, replaced, adopted = math.max(quarantine, now + longest), now, ''
end
if adopts then
    -- The master votes at once, so its clock begins above all that any master may have stored
    -- for earlier leases.
    clock = math.max(clock, math.ceil(math.max(quarantine, now + longest) + ahead))
    adopted, replaced = run_id, now
    quarantine = 0
elseif adopted ~= run_id then
    quarantine = math.max(quarantine, started + longest)
end
quarantine = math.ceil(quarantine)
clock = math.max(clock, math.ceil(quarantine + ahead))

local function text(value)
    return string.format('%.0f', value)
end
local is = {run_id, text(started), text(quarantine), text(max_ttl), adopted, text(clock), source,
            replaced > 0 and text(replaced) or ''}
for i = 1, ARGV[1] ~= '0' and #is or 0 do
    if is[i] ~= (was[i] or '') then
        redis.call('hset', KEYS[1], 'r', is[1], 's', is[2], 'q', is[3],
            'm', is[4], 'a', is[5], 'h', is[6], 'p', is[7], 'w', is[8])
        break
    end
end
return answer(ARGV[4] == '1' and 0 or math.max(0, quarantine - now), max_ttl, clock,
    adopted == run_id and now or math.max(0, now - started))
