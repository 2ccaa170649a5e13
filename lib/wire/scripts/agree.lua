-- Remembers which list of masters a client of a fleet counts on, and lists those in use
-- (doc/design/agreement.md).
--
--   KEYS[1]                  redlock:lists:<fleet>, cmsgpack {places given, lists}; by the SHA-1 of its text
--       each list is {place, first said, last said, label of the last, kept us, text, processes}, and
--       processes are {address: {run_id, since, until}}: the process lived at both moments
--   KEYS[1] .. ':' .. SHA-1  sorted set: the clients that say it, by when each said it last
--   KEYS[1] .. ':over:ends'   hash, without a ttl: by the SHA-1 of the addresses the list in place of it, or
--       nothing; changes: a number that is another one after each change of an end
--
-- A list is in use until nobody has said it for as long as it is kept.  Its place does not follow TIME: a
-- clock that is set back changes no order.  Times are microseconds of TIME; they are written with %.0f, for
-- tostring loses digits.
--
-- KEYS redlock:lists:<fleet>
--
-- ARGV
--   1       1: says it, 0: only looks, -1: takes it back, 2: it is over, for all clients; 3: it is not
--   2 to 7  client; label; kept us; quorum; spare votes; max ttl ms
--   8       the TIME of the last answer to the client on this connection (0: none)
--   9 ...   of each master its address and run_id.  A run_id stands here only if that process answered a
--           question asked since then.  An age would be wrong: a request may lie for minutes.
--
--   the last one, if 1 is 2: the list in place of it; if 1 is 3: the number of changes in its last answer
--
-- A client that says a list which is over is not listed.  Those listed stay: leases may rest on it.
--
-- Returns lines.  The first is TIME; ' changed ' and the number, to one that looks, after a change; ' over '
-- and the list in place of the asker's, if that is over.  Each list in use has
--   = the asker's, < before it or it is not said, > behind it; us since first and last said; clients.
--     Then quorum; spare votes; max ttl ms; masters; label.
--   A line for each master: us since its process lived for the first and the last time, its run_id, its
--   address.  They are 0, 0 and - if it was not heard.
local says, client, kept = ARGV[1], ARGV[2], tonumber(ARGV[4])
local most = 8
-- Clients say it again, so it need not be kept.  Redis 7.0 reads no script of several writes back from
-- its append-only file while the default user is off.
pcall(redis.set_repl, redis.REPL_NONE)
local time = redis.call('time')
local now = time[1] * 1000000 + time[2]

local function text_of(number)
    return string.format('%.0f', number)
end
local function sayers(id)
    return KEYS[1] .. ':' .. id
end

local addresses, heard = {}, {}
for i = 9, #ARGV - 1, 2 do
    addresses[#addresses + 1] = ARGV[i]
    if ARGV[i + 1] ~= '' then
        heard[ARGV[i]] = ARGV[i + 1]
    end
end
table.sort(addresses)
local text = table.concat({ARGV[5], ARGV[6], ARGV[7], #addresses, table.concat(addresses, '\n')}, ' ')
local own = redis.sha1hex(text)

-- Since it began, clients may have got an error here instead of being listed.
local function has_refused_writes()
    local errors = redis.call('info', 'errorstats')
    for _, kind in ipairs({'OOM', 'MISCONF', 'NOREPLICAS'}) do
        if string.find(errors, 'errorstat_' .. kind .. ':', 1, true) then
            return true
        end
    end
    return false
end

-- Clients of other numbers count on the same masters.  It is kept, in the append-only file as well.
local ends, own_end = KEYS[1] .. ':over:ends', redis.sha1hex(table.concat(addresses, '\n'))
local over = redis.call('hget', ends, own_end)
over = over ~= '' and over

-- A tool takes an end back by what it saw here.  If an end has changed since, clients may have gone on to
-- another list, and the tool must look again.  Nobody else need know.  The number never falls.
local changes = (says == '0' or says == '2' or says == '3') and redis.call('hget', ends, 'changes')
local function change_end(list)
    changes = text_of(math.max(now, tonumber(changes or 0) + 1))
    pcall(redis.set_repl, redis.REPL_ALL)
    redis.call('hset', ends, own_end, list or '', 'changes', changes)
    pcall(redis.set_repl, redis.REPL_NONE)
    over = list
end

-- The first list in place of it stays: two commands must not lead clients to two lists.  A master that has
-- refused writes lists the asker, so that the list counts as said for as long as a lease may rest on it.
local stands_in = false
if says == '2' and not over then
    change_end(ARGV[#ARGV])
    stands_in = has_refused_writes()
elseif says == '3' and over and ARGV[#ARGV] == (changes or '0') then
    change_end(nil)
end
if says == '2' or says == '3' then
    says = '0'
end
if over and says == '1' then
    says = '0' -- it writes nothing: a master that refuses writes must say so all the same
elseif stands_in then
    says = '1'
end

-- A client that said it in the future, by a clock that was set back since, said it now.
local function pull_back(id)
    local ahead = '(' .. text_of(now)
    if redis.call('zcount', sayers(id), ahead, '+inf') > 0 then
        for _, its in ipairs(redis.call('zrange', sayers(id), -64, -1)) do
            if tonumber(redis.call('zscore', sayers(id), its)) > now then
                redis.call('zadd', sayers(id), text_of(now), its)
            end
        end
    end
end
local function clients(id, list)
    return redis.call('zcount', sayers(id), text_of(now - list[5]), '+inf')
end

local stored = redis.call('get', KEYS[1])
local state = stored and cmsgpack.unpack(stored) or {0, {}}
local lists, count = {}, 0
if says == '-1' then
    redis.call('zrem', sayers(own), client)
end
for id, list in pairs(state[2]) do
    if says ~= '0' then
        pull_back(id)
        redis.call('zremrangebyscore', sayers(id), '-inf', '(' .. text_of(now - list[5]))
    end
    if clients(id, list) > 0 then
        lists[id], count = list, count + 1
    end
end

if says == '1' and (lists[own] or count < most or stands_in) then
    local list = lists[own] or {state[1] + 1, now, now, '', 0, text, {}}
    state[1] = math.max(state[1], list[1])
    list[3], list[4], list[5] = now, ARGV[3], math.max(list[5], kept)
    for address, run_id in pairs(heard) do
        local was = list[7][address]
        local is = was and was[1] == run_id and was or {run_id, now, tonumber(ARGV[8])}
        is[3] = math.max(is[3], tonumber(ARGV[8]))
        list[7][address] = is
    end
    lists[own] = list
    redis.call('zadd', sayers(own), text_of(now), client)
    redis.call('pexpire', sayers(own), math.ceil(list[5] / 1000))
end

local longest = 0
for _, list in pairs(lists) do
    longest = math.max(longest, list[5])
end
if says ~= '0' and longest > 0 then
    redis.call('set', KEYS[1], cmsgpack.pack({state[1], lists}), 'PX', math.ceil(longest / 1000))
elseif says ~= '0' then
    redis.call('del', KEYS[1])
end

local function place_of(id)
    return id == own and '=' or lists[own] and lists[own][1] < lists[id][1] and '>' or '<'
end
local told = (changes and ' changed ' .. changes or '') .. (over and ' over ' .. over or '')
local lines = {text_of(now) .. told}
for id, list in pairs(lists) do
    local numbers, names = string.match(list[6], '^(%S+ %S+ %S+ %S+) (.*)$')
    lines[#lines + 1] = table.concat({place_of(id), text_of(now - list[2]), text_of(now - list[3]),
                                      clients(id, list), numbers, list[4]}, ' ')
    for address in string.gmatch(names, '[^\n]+') do
        local is = list[7][address]
        local lived = is and table.concat({text_of(now - is[2]), text_of(now - is[3]), is[1]}, ' ')
        lines[#lines + 1] = (lived or '0 0 -') .. ' ' .. address
    end
end
return table.concat(lines, '\n')
