-- A barrier: one generation of a name.  The build puts this where a script says that it uses it.
--
--     redlock:barrier:<generation>:<name>  sorted set: "t:<token>" of each party, by expiry in ms of
--         TIME; "of:<parties>", "open", "passed" at +inf.  Once it is open no party is removed, but
--         a silent party no longer counts.
--     redlock:passed:<name>  the latest generation that was passed, as "<generation> of <parties>"; it
--         lasts a week after the last report of that
--
-- They are not in KEYS: they follow from the name, and a master is no cluster.
-- uses observers.lua
-- uses value.lua
local token, generation, parties = ARGV[1], ARGV[2], tonumber(ARGV[3])
local barrier = 'redlock:barrier:' .. generation .. ':' .. name
local now = ms_now()
local past = string.format('(%.0f', now)
local record, week = 'redlock:passed:' .. name, 604800000

-- Returns whether it is open, whether it was passed, and for how many parties it is, if that is
-- said.
local function facts()
    local open, passed, of
    for _, fact in ipairs(redis.call('zrange', barrier, '+inf', '+inf', 'byscore', 'limit', 0, 4)) do
        open = open or fact == 'open'
        passed = passed or fact == 'passed'
        of = of or tonumber(string.match(fact, '^of:(%d+)$') or '')
    end
    return open, passed, of
end

-- The latest generation that is known to have been passed, if it is this one or a later one, and the
-- number of its parties.
local function later()
    local value = value_of(record)
    local latest, of = string.match(type(value) == 'string' and value or '', '^(%d+) of (%d+)$')
    latest = tonumber(latest or '')
    if latest and latest >= tonumber(generation) and latest <= 9007199254740992 then
        return latest, tonumber(of)
    end
end

-- The number of parties that are counted.
local function counted()
    return redis.call('zcount', barrier, past, '(+inf')
end

-- Of twice as many as a barrier may be for: a reply has an end.
local function tokens()
    local names = redis.call('zrange', barrier, past, '(+inf', 'byscore', 'limit', 0, 512)
    for i = 1, #names do
        names[i] = string.sub(names[i], 3)
    end
    return table.concat(names, '\n')
end

-- The answer.
local function stand()
    local open, passed, of = facts()
    if of and of ~= parties then
        return {-1, of, counted(), ''}
    end
    local state = passed and 2 or open and 1 or 0
    return {state, parties, counted(), state == 1 and tokens() or ''}
end

-- The generation is over: nobody is counted any more.
local function over(latest, of)
    redis.call('zrem', barrier, 't:' .. token)
    return {3, of, counted(), latest}
end

if not facts() then
    redis.call('zremrangebyscore', barrier, '-inf', string.format('%.0f', now))
end
