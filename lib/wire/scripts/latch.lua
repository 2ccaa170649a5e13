-- The latch of a name.  The build puts this where a script says that it uses it.
--   redlock:latch:<name>  sorted set: "a:<arrival>" at 0; at 1 the facts "id:<id>",
--       "of:<how many it waits for>", "ends:<ms of TIME>", "run:<the process that it is for>",
--       "put:<ms of TIME>", when it was put here, "open"
-- It is not in KEYS: it follows from the name, and a master is no cluster.
-- uses observers.lua
local latch = 'redlock:latch:' .. name
local now = ms_now() -- one look: what has not ended has time left in the answer, too
local run = string.match(redis.call('info', 'server'), 'run_id:(%w+)')

local function facts()
    local is = {}
    for _, fact in ipairs(redis.call('zrange', latch, 1, 1, 'byscore', 'limit', 0, 6)) do
        local word, value = string.match(fact, '^(%a+):?(.*)$')
        is[word] = value
    end
    return is
end

-- The latch, if this very process got it.  Data that a restart brought back may be older than data that
-- is forgotten.
local function record()
    local is = facts()
    return is.run == run and tonumber(is.ends) > now and is
end

local function counted()
    return redis.call('zcount', latch, 0, 0)
end

-- For how many ms it has been here; 0 if the clock was set back since.
local function age(is)
    return math.max(now - tonumber(is.put), 0)
end

-- The answer.
local function stands(is)
    local arrived = redis.call('zrange', latch, 0, 0, 'byscore')
    for i = 1, #arrived do
        arrived[i] = string.sub(arrived[i], 3)
    end
    return {is.open and 1 or 0, is.id, tonumber(is.of), tonumber(is.ends),
        tonumber(is.ends) - now, age(is), table.concat(arrived, '\n')}
end

-- Counts those who have arrived, one a line, if not enough are counted, and stores that it is open if
-- `opened` is '1'.  Waiters get a message if it may be open now.
local function take_in(is, arrived, opened)
    local news, missing = false, tonumber(is.of) - counted()
    for arrival in string.gmatch(arrived, '[^\n]+') do
        if missing > 0 and redis.call('zadd', latch, 0, 'a:' .. arrival) == 1 then
            missing = missing - 1
            news = missing == 0
        end
    end
    if opened == '1' then
        is.open = true
        news = redis.call('zadd', latch, 1, 'open') == 1 or news
    end
    if news then
        tell('0', '')
    end
end
